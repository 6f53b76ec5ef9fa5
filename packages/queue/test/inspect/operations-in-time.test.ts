import { SluiceError } from '@sluice/core'
import { expect, test } from 'vitest'
import { nextTurn } from '../support/late-driver.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { late, Scene, SteppedWorker, seen } from '../support/setups.ts'

const timeoutMs = 2_000

const operations = {
  pause: 'pause',
  resume: 'resume',
  park: 'park',
  unpark: 'unpark',
  runNow: 'runNow',
  remove: 'remove',
  release: 'finish',
  forget: 'forget',
} as const

for (const [operation, verb] of Object.entries(operations)) {
  test(`${operation} is not pending for longer than timeoutMs, and its outcome is unknown then`, async () => {
    const scene = new Scene(late)
    const queue = scene.queue({ timeoutMs })
    await queue.add('a')
    await queue.get()
    const time = fakeRealTime()
    scene.late.hold(verb)
    const answer = seen(queue.inspect[operation as 'park']('a'))
    await time.pass(timeoutMs - 100)
    expect(answer.state).toBe('waiting')
    await time.pass(200)
    expect(answer.error).toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
    scene.late.letGo(verb)
  })
}

test('a pause that takes effect after timeoutMs releases what was claimed ahead', async () => {
  const scene = new Scene(late)
  const queue = scene.queue({ timeoutMs, prefetch: 2 })
  await queue.addMany(['a', 'b', 'c'])
  const time = fakeRealTime()
  scene.late.hold('pause')
  const answer = seen(queue.inspect.pause())
  await time.pass(timeoutMs + 100)
  expect(answer.state).toBe('rejected')
  const stepped = new SteppedWorker(queue)
  await scene.quiet()
  const held = async () => Object.values(await scene.states()).filter((it) => it === 'processing')
  expect(await held()).toHaveLength(3)
  scene.late.letGo('pause')
  await scene.quiet()
  expect(await held()).toHaveLength(1)
  stepped.end()
  await scene.quiet()
})

test('a purge may take longer than timeoutMs: it removes any number of keys', async () => {
  const scene = new Scene(late)
  const queue = scene.queue({ timeoutMs })
  await queue.add('a')
  const time = fakeRealTime()
  scene.late.hold('purge')
  const purged = queue.inspect.purge()
  await time.pass(2 * timeoutMs)
  scene.late.letGo('purge')
  expect(await purged).toBe(1)
})

test('a purge that a close has interrupted says so', async () => {
  const scene = new Scene(late)
  const queue = scene.queue()
  await queue.add('a')
  scene.late.hold('purge')
  scene.late.after = ({ verb }) => {
    if (verb === 'purge') throw new SluiceError('ERR_STORE', 'the driver is not open')
  }
  const purged = seen(queue.inspect.purge())
  await scene.quiet()
  await queue.close()
  scene.late.letGo('purge')
  await scene.quiet()
  expect(purged.error).toMatchObject({ code: 'ERR_CLOSED' })
})

test('an operation on a store that is not opened in time is not made later', async () => {
  const scene = new Scene(late)
  const queue = scene.queue({ timeoutMs })
  const time = fakeRealTime()
  scene.late.hold('open')
  const answer = seen(queue.inspect.pause())
  await time.pass(timeoutMs + 100)
  expect(answer.error).toMatchObject({ code: 'ERR_TIMEOUT' })
  scene.late.letGo('open')
  await nextTurn()
  await queue.len()
  expect(scene.late.count('pause')).toBe(0)
})
