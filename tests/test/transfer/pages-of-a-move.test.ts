import assert from 'node:assert/strict'
import type { TransferRow } from '@sluice/core'
import { createQueue, memoryDriver } from 'sluice'
import { moveQueues } from 'sluice/transfer'
import { expect, onTestFinished, test, vi } from 'vitest'
import { queueName } from '../../support/transfer/full-queue.ts'

test('a store gets no more keys and text in a call than it wants', async () => {
  const from = memoryDriver()
  const to = Object.assign(memoryDriver(), { batchKeys: 5, batchBytes: 100 })
  const calls: { readonly keys: number; readonly bytes: number }[] = []
  const { transfer } = to
  const { importRows } = transfer!
  Object.assign(transfer!, {
    importRows: (queue: string, rows: readonly TransferRow[]) => {
      const bytes = rows.reduce(
        (sum, { key, item = '', lastError = '' }) =>
          sum + key.length + item.length + lastError.length,
        0,
      )
      calls.push({ keys: rows.length, bytes })
      return importRows.call(transfer, queue, rows)
    },
  })
  const queue = createQueue<{ id: string; text: string }>({
    name: queueName,
    driver: from,
    keyOf: ({ id }) => id,
  })
  const long = Array.from({ length: 4 }, (_, at) => ({ id: `a${at}`, text: 'x'.repeat(200) }))
  const short = Array.from({ length: 20 }, (_, at) => ({ id: `b${at}`, text: '' }))
  await queue.addMany(Array.from({ length: 4 }, (_, at) => ({ id: `c${at}`, text: '' })))
  for (const failed of await queue.getMany(4)) await failed.park(new Error('x'.repeat(200)))
  await queue.addMany([...long, ...short])
  await queue.close()
  await moveQueues({ from, to })
  const expected = [1, 1, 1, 1]
  expect(calls.slice(0, 4).map(({ keys }) => keys)).toEqual(expected)
  expect(calls.slice(-4).map(({ keys }) => keys)).toEqual(expected)
  expect(calls.slice(4, -4).every(({ keys, bytes }) => keys <= 5 && bytes <= 100)).toBe(true)
  expect(calls.reduce((sum, { keys }) => sum + keys, 0)).toBe(28)
})

test.each([
  ['throws', (): unknown => assert.fail('no log')],
  ['rejects', (): unknown => Promise.reject(new Error('no log'))],
])(
  'an onProgress that %s is printed, and ends neither the move nor the process',
  async (...row) => {
    const [, onProgress] = row
    const print = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    onTestFinished(() => print.mockRestore())
    const from = memoryDriver()
    const queue = createQueue({ name: queueName, driver: from })
    await queue.add('a')
    expect(await moveQueues({ from, to: memoryDriver(), onProgress })).toMatchObject([{ moved: 1 }])
    expect(
      print.mock.calls.map(([text, failure]) => `${text} ${(failure as Error).message}`),
    ).toEqual(['sluice: the onProgress of moveQueues threw: no log'])
    await queue.close()
  },
)

// The key behind the last one is on the third page, the one before the first on a page of its own.
const pages = [undefined, 'b1999', 'b2999', undefined, undefined]

test.each([
  ['out of this process', false, pages],
  ['in this process, which has larger pages', true, [undefined, undefined, undefined]],
])(
  'a page of a store %s begins behind the one before, and what came meanwhile is moved',
  async (...row) => {
    const [, isDirect, expected] = row
    const from = memoryDriver()
    const to = memoryDriver()
    if (!isDirect) Object.assign(from, { direct: undefined })
    const producer = createQueue({ name: queueName, driver: from })
    await producer.addMany(Array.from({ length: 2_500 }, (_, at) => `b${at + 1_000}`))
    const cursors: (string | undefined)[] = []
    const { list } = from
    Object.assign(from, {
      async list(...call: Parameters<typeof list>) {
        if (cursors.push(call[1].cursor) === 2) await producer.addMany(['a', 'c'])
        return await list.apply(from, call)
      },
    })
    const [moved] = await moveQueues({ from, to })
    expect(moved).toMatchObject({ moved: 2_502 })
    expect(cursors).toEqual(expected)
    await producer.close()
  },
)
