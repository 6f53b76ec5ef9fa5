import { getEventListeners } from 'node:events'
import { memoryDriver } from '@sluice/memory'
import { describe, expect, test, vi } from 'vitest'
import { direct, Scene, setups } from '../support/setups.ts'

test('a get that has to wait claims in vain once, and the add that ends its wait claims once', async () => {
  const driver = memoryDriver()
  const queue = new Scene(direct, driver).queue({ name: 'waited-for' })
  await queue.add('first')
  await (await queue.get())!.done()
  const claim = vi.spyOn(driver.direct!('waited-for'), 'claim')
  const waiting = queue.get()
  expect(claim).toHaveBeenCalledTimes(1)
  await queue.add('second')
  expect((await waiting)!.key).toBe('second')
  expect(claim).toHaveBeenCalledTimes(2)
})

describe.each(setups)('$way', (setup) => {
  test('a wait that has ended leaves no listener on its signal', async () => {
    const queue = new Scene(setup).queue()
    const { signal } = new AbortController()
    const waits = [
      [() => queue.get({ signal }), () => queue.add('one')],
      [() => queue.getMany(2, { signal }), () => queue.add('several')],
      [() => queue.get({ signal }), () => queue.shutDown()],
    ] as const
    for (const [wait, end] of waits) {
      const waiting = wait()
      expect(getEventListeners(signal, 'abort')).toHaveLength(1)
      await end()
      await waiting
      expect(getEventListeners(signal, 'abort')).toEqual([])
    }
  })

  test('a wait keeps the process alive as long as it lasts', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const refs = async (): Promise<number> => {
      await scene.quiet()
      return scene.clock.refCount()
    }
    await queue.add('held')
    const held = await queue.get()
    expect(await refs()).toBe(0)
    const waits = [
      (signal: AbortSignal) => queue.get({ signal }),
      (signal: AbortSignal) => queue.shutDownWithDrain({ signal }),
    ]
    for (const wait of waits) {
      const abort = new AbortController()
      const waiting = wait(abort.signal)
      expect(await refs()).toBe(1)
      abort.abort(new Error('enough'))
      await expect(waiting).rejects.toThrow('enough')
      expect(await refs()).toBe(0)
    }
    const draining = queue.shutDownWithDrain()
    expect(await refs()).toBe(1)
    await queue.shutDown()
    await draining
    expect(await refs()).toBe(0)
    const next = queue[Symbol.asyncIterator]().next()
    expect(await refs()).toBe(1)
    await held!.done()
    expect((await next).done).toBe(true)
    expect(await refs()).toBe(0)
  })

  test('a drain that has ended does not keep the process alive', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('held')
    const held = await queue.get()
    const draining = queue.shutDownWithDrain()
    await scene.quiet()
    expect(scene.clock.refCount()).toBe(1)
    await held!.done()
    await draining
    await scene.quiet()
    expect(scene.clock.refCount()).toBe(0)
  })
})
