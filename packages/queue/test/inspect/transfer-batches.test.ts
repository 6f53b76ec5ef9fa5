import { emptyKeyState } from '@sluice/core/driver'
import { memoryDriver } from '@sluice/memory'
import { expect, test } from 'vitest'
import { transferBatches } from '../../src/transfer/transfer-batches.ts'
import { LateDriver } from '../support/late-driver.ts'

test('one call transfers a megabyte of long items, to a store that sets no limit', () => {
  const item = 'x'.repeat(60_000)
  const rows = Array.from({ length: 40 }, (_, at) => ({ ...emptyKeyState(), key: `${at}`, item }))
  const batches = transferBatches(rows as never, new LateDriver(memoryDriver()))
  expect(batches.map((batch) => batch.length)).toEqual([17, 17, 6])
})
