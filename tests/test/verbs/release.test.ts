import { createQueue, inspectStore } from 'sluice'
import { describe, expect, test } from 'vitest'
import { postgresKind } from '../../support/stores/postgres-kind.ts'
import { storeKinds } from '../../support/stores/store-kind.ts'

describe.each([...storeKinds, postgresKind()])('$name', ({ make }) => {
  test('an operator takes a key from a holder, which is fenced', async () => {
    const driver = make()
    await using queue = createQueue<string>({ name: 'orders', driver, leaseMs: 60_000 })
    await using store = inspectStore(driver)
    const inspect = store.queue('orders')
    await queue.add('k')
    const hung = await queue.get()
    if (hung === undefined) throw new Error('a key is handed out')
    const getting = queue.get()

    expect(await inspect.release('k', { token: hung.token + 1 })).toBe('unchanged')
    expect(await inspect.release('k', { token: hung.token })).toBe('changed')
    const next = await getting
    expect(next?.key).toBe('k')
    expect([next?.failures, next?.crashes]).toEqual([0, 0])
    expect(await hung.done()).toBe('lost')
    expect((await inspect.get('k'))?.held?.token).toBe(next?.token)
    expect(await next?.done()).toBe('idle')
    expect(await inspect.release('k')).toBe('missing')
  })
})
