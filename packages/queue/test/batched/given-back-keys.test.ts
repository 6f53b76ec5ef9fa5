import { SluiceError } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { failing } from '../support/failing.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { late, Scene, SteppedWorker, seen, unleased } from '../support/setups.ts'

const away = new SluiceError('ERR_STORE', 'away', { retryable: true })

describe('a key that is given back', () => {
  test('because its getter gave up is given back through trouble with the store', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue({ leaseMs: 1_000 })
    await queue.add('a')
    scene.late.hold('claim')
    const controller = new AbortController()
    const waiting = seen(queue.get({ signal: controller.signal }))
    await scene.quiet()
    failing(scene, 'finish', away, 3)
    controller.abort(new Error('enough'))
    scene.late.letGo('claim')
    await scene.quiet()
    await time.pass(10_000)
    expect(waiting.state).toBe('rejected')
    expect(await scene.states()).toEqual({ a: 'ready' })
    expect(scene.takeErrors()).toEqual(['ERR_STORE'])
  })

  test('for good fails without being held: its lease ends, and another worker has it', async () => {
    const scene = new Scene(late)
    const queue = scene.queue({ leaseMs: 1_000 })
    const other = scene.queue({ leaseMs: 1_000 })
    await queue.add('a')
    scene.late.hold('claim')
    const controller = new AbortController()
    const waiting = seen(queue.get({ signal: controller.signal }))
    await scene.quiet()
    failing(scene, 'finish', new SluiceError('ERR_STORE_DAMAGED', 'damaged'), 1)
    controller.abort(new Error('enough'))
    scene.late.letGo('claim')
    await scene.quiet()
    expect(waiting.state).toBe('rejected')
    expect(scene.takeErrors()).toEqual(['ERR_LEASE_LOST'])
    const theirs = seen(other.get())
    await scene.clock.step(20_000)
    expect(theirs.value?.key).toBe('a')
    await theirs.value?.done()
  })

  test('since it was claimed ahead and the queue shuts down is given back, too', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue({ prefetch: 10 })
    await queue.addMany(['a', 'b', 'c'])
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    failing(scene, 'finish', away, 2)
    await queue.shutDown()
    await time.pass(5_000)
    expect(await scene.states()).toEqual({ a: 'processing', b: 'ready', c: 'ready' })
    stepped.end()
    await scene.quiet()
    stepped.end()
    await scene.quiet()
    stepped.end()
    await stepped.worker.stopped
    scene.takeErrors()
  })
})

describe.each([late, unleased])('a schema over $way', (setup) => {
  const schema = {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (value: unknown) =>
        String(value).startsWith('bad') ? { issues: [{ message: 'bad' }] } : { value },
    },
  }

  test('trouble while a key is parked ends no worker, and loses none of the other keys', async () => {
    const time = fakeRealTime()
    const scene = new Scene(setup)
    await scene.queue().addMany(['good/1', 'bad/1', 'good/2', 'bad/2'])
    const queue = scene.queue({ schema: schema as never })
    failing(scene, 'finish', away, 3)
    const getting = seen(queue.getMany(4))
    await scene.quiet()
    expect(getting.value?.map(({ key }) => key)).toEqual(['good/1', 'good/2'])
    const waiting = seen(queue.get())
    await time.pass(10_000)
    expect(waiting.state).toBe('waiting')
    const states = await scene.states()
    expect([states['bad/1'], states['bad/2']]).toEqual(['parked', 'parked'])
    await scene.queue().add('good/3')
    await time.pass(1_000)
    expect(waiting.value?.key).toBe('good/3')
    scene.takeErrors()
  })
})
