import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from 'sluice'
import { exportQueue } from 'sluice/transfer'
import { expect, test } from 'vitest'
import { fill, keepOpen, queueOn } from '../../support/transfer/full-queue.ts'

test.each([
  ['', 'is lost'],
  ['{', 'is not JSON'],
])('an item that is stored as %o ends an export: no import would read it', async (item, what) => {
  const clock = fakeClock(1_000_000_000)
  const from = memoryDriver()
  await keepOpen(from, clock)
  await fill(from, clock, 20)
  const list = from.list.bind(from)
  from.list = async (...call) => {
    const reply = await list(...call)
    return { ...reply, rows: reply.rows.map((row, at) => (at === 7 ? { ...row, item } : row)) }
  }
  const drain = async () => {
    for await (const _ of exportQueue(queueOn(from, clock)));
  }
  await expect(drain()).rejects.toMatchObject({
    code: 'ERR_STORE_DAMAGED',
    message: expect.stringMatching(
      new RegExp(
        `^the item of key '.+' of queue '.+' ${what}: add the key with its item, or remove it`,
      ),
    ),
  })
})
