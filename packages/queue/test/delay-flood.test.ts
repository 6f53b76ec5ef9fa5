import type { Clock } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { Scene, seen, setups, take } from './setups.ts'

const rounds = 500

/** A clock whose timers never fire: nothing here lets the event loop turn. */
function stuckClock(): Clock & { time: number } {
  return {
    time: 1_000_000,
    now() {
      return this.time
    },
    monotonicMs() {
      return this.time
    },
    startTimer: () => ({
      stop: () => true,
      reset: () => true,
      ref: () => undefined,
      unref: () => undefined,
    }),
    startTicker: () => ({ stop: () => true }),
  }
}

describe.each(setups)('delay.flood.does-not-starve over $way', (setup) => {
  // The original drains its hand-over channel before it looks at the time again. Here what is due
  // must be handed out by the flood's own calls.
  test('while addAfter is called without pause, a due key is handed out', async () => {
    const scene = new Scene(setup)
    const clock = stuckClock()
    const queue = scene.delaying({ clock })
    await queue.addAfter('due', 1_000)
    const waiting = seen(queue.get())
    await scene.quiet()
    for (let round = 0; round < rounds && waiting.state === 'waiting'; round += 1) {
      if (round === 10) clock.time += 1_000
      await queue.addAfter(`flood-${round}`, 3_600_000)
    }
    expect(waiting.value?.key).toBe('due')
    await waiting.value?.done()
  })

  test('also if the flood is of one key, so that nothing changes', async () => {
    const scene = new Scene(setup)
    const clock = stuckClock()
    const queue = scene.delaying({ clock })
    await queue.addAfter('due', 1_000)
    await queue.addAfter('flood', 3_600_000)
    const waiting = seen(queue.get())
    await scene.quiet()
    for (let round = 0; round < rounds && waiting.state === 'waiting'; round += 1) {
      if (round === 10) clock.time += 1_000
      expect(await queue.addAfter('flood', 7_200_000)).toBe('unchanged')
    }
    expect(waiting.value?.key).toBe('due')
    await waiting.value?.done()
  })

  test('also if the flood is of adds to a key that is held', async () => {
    const scene = new Scene(setup)
    const clock = stuckClock()
    const queue = scene.delaying({ clock })
    await queue.add('held')
    const held = await take(queue)
    await queue.add('held')
    await queue.addAfter('due', 1_000)
    const waiting = seen(queue.get())
    await scene.quiet()
    for (let round = 0; round < rounds && waiting.state === 'waiting'; round += 1) {
      if (round === 10) clock.time += 1_000
      await queue.add('held')
    }
    expect(waiting.value?.key).toBe('due')
    await waiting.value?.done()
    await held.done()
  })
})
