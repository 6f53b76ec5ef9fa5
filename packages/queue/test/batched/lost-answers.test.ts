import { SluiceError } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { failing } from '../support/failing.ts'
import { nextTurn } from '../support/late-driver.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { late, Scene, seen } from '../support/setups.ts'

const unknown = new SluiceError('ERR_UNKNOWN_OUTCOME', 'the connection broke')

describe('opening', () => {
  test('that is cut is no unknown outcome: it is tried again at once, and adopts nothing', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    failing(scene, 'open', unknown, 1)
    const queue = scene.queue()
    const waiting = seen(queue.get())
    await time.pass(1_000)
    expect(await queue.add('k')).toBe('added')
    await time.pass(500)
    expect(waiting.value?.key).toBe('k')
    expect(scene.late.count('adopt')).toBe(0)
    expect(scene.takeErrors()).toEqual(['ERR_STORE'])
  })

  test('that is cut rejects an add as a failure that changed nothing', async () => {
    const scene = new Scene(late)
    failing(scene, 'open', unknown, 1)
    const queue = scene.queue()
    await expect(queue.add('k')).rejects.toMatchObject({ code: 'ERR_STORE', retryable: true })
    expect(await queue.add('k')).toBe('added')
  })

  test('that takes too long rejects an add that was not sent, and is never sent later', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue({ timeoutMs: 2_000 })
    scene.late.hold('open')
    const first = seen(queue.add('first'))
    await time.pass(1_000)
    const second = seen(queue.add('second'))
    await time.pass(1_100)
    expect(first.error).toMatchObject({ code: 'ERR_TIMEOUT', retryable: true })
    expect(second.state).toBe('waiting')
    scene.late.letGo('open')
    await time.pass(100)
    expect(second.value).toBe('added')
    expect(await scene.states()).toEqual({ second: 'ready' })
  })
})

test('an add whose answer is lost is repeated while its time lasts', async () => {
  const time = fakeRealTime()
  const scene = new Scene(late)
  const queue = scene.queue({ timeoutMs: 30_000 })
  await queue.len()
  const silent = new SluiceError('ERR_TIMEOUT', 'no connection', { retryable: true })
  let left = 4
  scene.late.before = async ({ verb }) => {
    await nextTurn()
    if (verb !== 'add' || left === 0) return
    left -= 1
    // real time: is under control here.
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    throw left % 2 === 0 ? unknown : silent
  }
  const adding = seen(queue.add('k'))
  await time.pass(25_000)
  expect(adding.value).toBe('added')
})
