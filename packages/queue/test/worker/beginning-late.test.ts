import { describe, expect, test } from 'vitest'
import { createWorker, type Queue, type Worker } from '../../src/index.ts'
import { LateDriver } from '../support/late-driver.ts'
import { Scene, seen, setups } from '../support/setups.ts'

/** After how many turns of the microtask queue an end begins: before a key is handed over, and long after. */
const turnsMax = 40

const ends: readonly [string, (queue: Queue<string>, worker: Worker) => Promise<void>][] = [
  ['close', (queue) => queue.close()],
  ['stop', (_, worker) => worker.stop()],
  ['stop without a grace', (_, worker) => worker.stop({ graceMs: 0 })],
]

describe.each(setups)('a handler over $way', (setup) => {
  test.each(ends)('does not begin after a %s, which gives its key back', async (_, end) => {
    const states = new Set<string | undefined>()
    for (let turns = 0; turns < turnsMax; turns += 1) {
      const scene = new Scene(setup)
      const { driver } = scene
      if (driver instanceof LateDriver) driver.before = () => undefined
      const queue = scene.queue()
      let isEnding = false
      const begun: boolean[] = []
      const worker = createWorker({ queue, handler: () => void begun.push(isEnding) })
      await scene.quiet()
      const adding = queue.add('a')
      for (let turn = 0; turn < turns; turn += 1) await undefined
      isEnding = true
      const ending = seen(end(queue, worker))
      await adding
      await scene.quiet()
      await scene.clock.step(0)
      expect([turns, begun, ending.state]).toEqual([turns, begun.map(() => false), 'resolved'])
      const { a } = await scene.states()
      expect([turns, begun.length, a]).toEqual([turns, a === undefined ? 1 : 0, a])
      states.add(a)
    }
    expect(states).toEqual(new Set([undefined, 'ready']))
  })
})
