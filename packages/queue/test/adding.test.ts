import { describe, expect, test } from 'vitest'
import { drainKeys, Scene, seen, setups, take } from './setups.ts'

describe.each(setups)('add over $way', (setup) => {
  test('Q-05: keys come out in the order they were added', async () => {
    const queue = new Scene(setup).queue()
    for (const key of ['c', 'a', 'b']) expect(await queue.add(key)).toBe('added')
    expect(await drainKeys(queue)).toEqual(['c', 'a', 'b'])
  })

  test('Q-02: a waiting key that is added again is one run, in its old place', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    await queue.add('b')
    await scene.clock.step(5)
    expect(await queue.add('a')).toBe('unchanged')
    expect(await queue.len()).toBe(2)
    expect(await drainKeys(queue)).toEqual(['a', 'b'])
  })

  test('Q-03, Q-04, S9: adds while a key is held are one more run, after done', async () => {
    const queue = new Scene(setup).queue()
    await queue.add('a')
    const held = await take(queue)
    expect(await queue.add('a')).toBe('added')
    expect(await queue.add('a')).toBe('unchanged')
    expect(await queue.add('a')).toBe('unchanged')
    expect(await queue.len()).toBe(0)
    expect(await held.done()).toBe('ready')
    expect(await queue.len()).toBe(1)
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('Q-05: an add wakes one who waits', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const first = seen(queue.get())
    const second = seen(queue.get())
    await scene.quiet()
    expect([first.state, second.state]).toEqual(['waiting', 'waiting'])
    await queue.add('a')
    await scene.quiet()
    expect([first.state, second.state]).toEqual(['resolved', 'waiting'])
    expect(first.value?.key).toBe('a')
  })
})
