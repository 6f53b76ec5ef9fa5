import type { Driver } from '@sluice/core'
import { emptyKeyState, type KeyRow } from '@sluice/core/driver'
import { memoryDriver } from '@sluice/memory'
import { expect, onTestFinished, test } from 'vitest'
import { createQueue } from '../../src/index.ts'
import { PageSize } from '../../src/inspect/page-size.ts'
import { exportQueue } from '../../src/transfer/export-queue.ts'
import { LateDriver } from '../support/late-driver.ts'
import { late, Scene } from '../support/setups.ts'

const remote: Driver = new LateDriver(memoryDriver())

function rows(count: number, chars: number): KeyRow[] {
  const item = 'x'.repeat(chars)
  return Array.from({ length: count }, (_, at) => {
    return {
      ...emptyKeyState(),
      key: `${at}`,
      state: 'ready',
      item,
      holder: undefined,
      lastError: undefined,
    }
  })
}

test('pages of short items become four times as large each, up to a thousand keys', () => {
  const size = new PageSize(remote)
  const sizes = Array.from({ length: 5 }, () => {
    const { keys } = size
    size.fit(rows(keys, 10))
    return keys
  })
  expect(sizes).toEqual([50, 200, 800, 1_000, 1_000])
})

test('pages of long items have about a megabyte', () => {
  const size = new PageSize(remote)
  size.fit(rows(50, 65_536))
  expect(size.keys).toBe(16)
  size.fit(rows(16, 2_000_000))
  expect(size.keys).toBe(1)
  size.fit([])
  size.fit(rows(1, 0))
  expect(size.keys).toBe(4)
})

test('a store in this process lists ten thousand keys at once', () => {
  const size = new PageSize(memoryDriver())
  size.fit(rows(2, 1_000_000))
  expect(size.keys).toBe(10_000)
})

test('an export and a selection list long items a few at a time', async () => {
  const scene = new Scene(late)
  Object.assign(scene.late, { transfer: scene.inner.transfer })
  const queue = createQueue<{ id: number; text: string }>({
    name: 'long',
    driver: scene.driver,
    clock: scene.clock,
    keyOf: ({ id }) => String(id),
  })
  onTestFinished(() => queue.close())
  const text = 'x'.repeat(60_000)
  await queue.addMany(Array.from({ length: 70 }, (_, id) => ({ id, text })))
  for (const walk of [() => exported(), () => queue.inspect.select({}).count()]) {
    scene.late.calls = []
    await walk()
    const limits = scene.late.calls
      .filter(({ verb }) => verb === 'list')
      .map(({ request }) => (request as { limit: number }).limit)
    expect(limits.filter((limit) => limit > 1)).toEqual([50, 17, 17])
  }

  async function exported(): Promise<void> {
    for await (const line of exportQueue(queue)) expect(line).toContain('\n')
  }
})
