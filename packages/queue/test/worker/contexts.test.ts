import { AsyncLocalStorage } from 'node:async_hooks'
import { fakeClock } from '@sluice/core/testing'
import { expect, test } from 'vitest'
import { createQueue, createWorker } from '../../src/index.ts'
import { nextTurn } from '../support/late-driver.ts'
import { late, Scene } from '../support/setups.ts'

test.each([
  ['without a lease', Infinity],
  ['with leases', 30_000],
])('a handler has the context of its worker, %s', async (_, leaseMs) => {
  const caller = new AsyncLocalStorage<string>()
  const clock = fakeClock()
  const queue = createQueue({ clock, leaseMs })
  const seen: (string | undefined)[] = []
  const worker = caller.run('of the worker', () =>
    createWorker<string>({
      queue,
      handler: (item) => {
        seen.push(caller.getStore())
        // As a library does that has a context for each request.
        caller.enterWith(`of ${item}`)
      },
    }),
  )
  await caller.run('of the add', () => queue.addMany(['a', 'b']))
  await clock.step(0)
  await caller.run('of another add', () => queue.add('c'))
  await clock.step(0)
  await worker.stop()
  await queue.close()
  expect(seen).toEqual(Array(3).fill('of the worker'))
})

test('a batch has the context of its first call, not that of the batch before it', async () => {
  const caller = new AsyncLocalStorage<string>()
  const scene = new Scene(late)
  const queue = scene.queue()
  const seen: (string | undefined)[] = []
  scene.late.before = ({ verb }) => {
    if (verb === 'add') seen.push(caller.getStore())
    return nextTurn()
  }
  scene.late.hold('add')
  const first = caller.run('of the first', () => queue.add('a'))
  await nextTurn()
  const more = ['of the second', 'of the third'].map((name) =>
    caller.run(name, () => queue.add(name)),
  )
  scene.late.letGo('add')
  await Promise.all([first, ...more])
  await caller.run('of the fourth', () => queue.add('b'))
  expect(seen).toEqual(['of the first', 'of the second', 'of the fourth'])
})

test('a handler gets the key and the token of its run, the counts of failures, and the priority', async () => {
  const scene = new Scene(late)
  const { clock, driver } = scene
  const queue = scene.limited<{ id: number }>()
  const key = 'json:{"id":1}'
  await queue.add({ id: 1 }, { priority: 7 })
  const asOther = { limit: 1, holder: 'gone', claimId: 'gone', leaseMs: 100 }
  const { claims } = await driver.claim('q', asOther)
  await clock.step(100)
  await driver.expire('q', claims, { dedupe: 'client-go', maxCrashes: 5 })
  await queue.inspect.runNow(key)
  const seen: unknown[] = []
  const worker = createWorker({
    queue,
    handler: (_item, { key, token, failures, crashes, priority }) => {
      seen.push({ key, token, failures, crashes, priority })
    },
  })
  await clock.step(0)
  const token = (claims[0]?.token ?? 0) + 1
  expect(seen).toEqual([{ key, token, failures: 1, crashes: 1, priority: 7 }])
  await worker.stop()
})
