import { fakeClock } from '@sluice/core/testing'
import { inspectStore, memoryDriver } from 'sluice'
import { moveQueues } from 'sluice/transfer'
import { expect, test } from 'vitest'
import { storeKinds } from '../../support/stores/store-kind.ts'
import { around } from '../../support/transfer/around.ts'
import { fill, keepOpen, queueName, rowsOf } from '../../support/transfer/full-queue.ts'

test('a target that is the source by another address is refused, and nothing is changed', async () => {
  const clock = fakeClock(1_000_000_000)
  const from = memoryDriver()
  await keepOpen(from, clock)
  await fill(from, clock, 20)
  const before = await rowsOf(from)
  const to = around(from, 'no verb', () => {})
  await expect(moveQueues({ from, to, clock })).rejects.toThrow(
    'to must be another store than from',
  )
  expect(await rowsOf(from)).toEqual(before)
  expect(await from.counts(queueName, { cap: 1 })).toMatchObject({ paused: false })
  // A queue that is paused later is moved as one that is paused.
  await from.operate?.pause(queueName)
  const other = memoryDriver()
  await keepOpen(other, clock)
  await moveQueues({ from, to: other, clock })
  expect(await other.counts(queueName, { cap: 1 })).toMatchObject({ paused: true })
})

test('keys of which the item is lost are not moved as their own items', async () => {
  const clock = fakeClock(1_000_000_000)
  const from = memoryDriver()
  await keepOpen(from, clock)
  await fill(from, clock, 20)
  const before = await rowsOf(from)
  const list = from.list.bind(from)
  from.list = async (...call) => {
    const reply = await list(...call)
    return { ...reply, rows: reply.rows.map((row, at) => (at === 7 ? { ...row, item: '' } : row)) }
  }
  const lost = expect.objectContaining({
    code: 'ERR_STORE_DAMAGED',
    message: expect.stringMatching(
      /the item of key '.*' of queue '.*' is lost in the source: add the key with its item/,
    ),
  })
  const to = memoryDriver()
  await expect(moveQueues({ from, to, clock })).rejects.toEqual(lost)
  from.list = list
  expect(await rowsOf(from)).toEqual(before)
  await moveQueues({ from, to, clock })
  expect(await rowsOf(from)).toEqual([])
})

test('bad options are refused, naming the parameter', async () => {
  const [from, to] = [storeKinds[0]!.make(), storeKinds[0]!.make()]
  const bad: [object, string][] = [
    [{ from }, 'to'],
    [{ from, to: from }, 'to'],
    [{ from, to: Object.create(to, { transfer: { value: undefined } }) }, 'to'],
    [{ from, to, resume: 1 }, 'resume'],
    [{ from, to, form: to }, 'form'],
  ]
  for (const [options, parameter] of bad) {
    await expect(moveQueues(options as never)).rejects.toMatchObject({
      code: 'ERR_INVALID_INPUT',
      parameter,
    })
  }
})

test('a queue without a name is not moved to a store where all have one', async () => {
  const from = memoryDriver()
  await using store = inspectStore(from)
  await store.add('', { item: 'k' })
  const to = storeKinds[1]!.make()
  for (const queues of [undefined, ['']]) {
    await expect(moveQueues({ from, to, queues })).rejects.toThrow('queues must all have a name')
  }
  expect(await store.queue('').counts()).toMatchObject({ ready: 1, paused: false })
  const moved = await moveQueues({ from, to: memoryDriver() })
  expect(moved).toEqual([{ queue: '', moved: 1 }])
})

test.each([
  ['orders', 'queues'],
  [[undefined], 'queues[0]'],
  [new Array(1), 'queues[0]'],
  [['a\0b'], 'queues[0]'],
])('names of queues that are none are refused: %j', async (queues, parameter) => {
  const [from, to] = [memoryDriver(), memoryDriver()]
  const error = await moveQueues({ from, to, queues: queues as string[] }).catch((reason) => reason)
  expect(error).toMatchObject({ code: 'ERR_INVALID_INPUT', parameter })
})
