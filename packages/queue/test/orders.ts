// Calls and answers of the driver arrive in any order that fast-check finds. In every order: no key
// has two holders, no acknowledged add is lost, and a drain ends.
import type { Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import * as fc from 'fast-check'
import { expect } from 'vitest'
import { createQueue, memoryDriver, type Queue } from '../src/index.ts'

/** A driver whose calls arrive, and whose answers come back, when the scheduler says so. */
export function scheduled(scheduler: fc.Scheduler, inner: Driver): Driver {
  return new Proxy(inner, {
    get(target, name) {
      if (name === 'direct' || name === 'watch') return undefined
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return async (...args: unknown[]) => {
        await scheduler.schedule(Promise.resolve(), `${String(name)} arrives`)
        const answer: unknown = await member.apply(target, args)
        await scheduler.schedule(Promise.resolve(), `${String(name)} is answered`)
        return answer
      }
    },
  })
}

/** The events, in the order in which they were seen from outside. */
class Witness {
  readonly holders = new Map<string, number>()
  /** Adds of a key that were answered and not followed by a run that began after them. */
  readonly owed = new Map<string, number>()
  runs = 0

  added(key: string): void {
    this.owed.set(key, (this.owed.get(key) ?? 0) + 1)
  }

  taken(key: string): void {
    this.runs += 1
    expect(this.holders.get(key) ?? 0).toBe(0)
    this.holders.set(key, 1)
  }

  givenBack(key: string): void {
    this.holders.set(key, 0)
  }
}

interface Program {
  readonly producers: readonly (readonly string[])[]
  /** For each worker: after how many of its runs it adds the key again, and how it ends each. */
  readonly workers: readonly { readonly readds: number; readonly ends: 'done' | 'release' }[]
}

const key = fc.constantFrom('a', 'b', 'c')
const programs: fc.Arbitrary<Program> = fc.record({
  producers: fc.array(fc.array(key, { maxLength: 6 }), { minLength: 1, maxLength: 3 }),
  workers: fc.array(
    fc.record({
      readds: fc.nat({ max: 2 }),
      ends: fc.constantFrom('done' as const, 'release' as const),
    }),
    { minLength: 1, maxLength: 3 },
  ),
})

async function produce(queue: Queue<string>, keys: readonly string[], witness: Witness) {
  for (const each of keys) {
    await queue.add(each)
    witness.added(each)
  }
}

async function work(queue: Queue<string>, worker: Program['workers'][number], witness: Witness) {
  let readds = worker.readds
  let releases = 1
  for await (const held of queue) {
    witness.taken(held.key)
    if (readds > 0 && !queue.shuttingDown) {
      readds -= 1
      await queue.add(held.item).catch(() => undefined)
    }
    witness.givenBack(held.key)
    // Released once only, or two workers could hand a key to and fro for ever.
    if (worker.ends === 'release' && releases > 0) {
      releases -= 1
      expect(await held.release()).toBe('ready')
    } else {
      expect(['idle', 'ready']).toContain(await held.done())
    }
  }
}

/** Runs programs in orders of every kind: however a queue with these options may be called. */
export async function examineOrders(options: { readonly prefetch?: number } = {}): Promise<void> {
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), programs, async (scheduler, { producers, workers }) => {
      const inner = memoryDriver()
      const clock = fakeClock()
      const driver = scheduled(scheduler, inner)
      const queue = createQueue<string>({ name: 'q', driver, clock, leaseMs: 30_000, ...options })
      const witness = new Witness()
      const working = workers.map((worker) => work(queue, worker, witness))
      const drained = Promise.all(producers.map((keys) => produce(queue, keys, witness))).then(() =>
        queue.shutDownWithDrain(),
      )
      await scheduler.waitFor(Promise.all([drained, ...working]))
      const counts = await inner.counts('q', { cap: 100 })
      expect(counts).toMatchObject({ ready: 0, processing: 0, dirty: 0 })
      // Every key that was ever added has run, and no run was invented.
      const added = new Set(producers.flat())
      expect(new Set(witness.holders.keys())).toEqual(added)
      runs += witness.runs
      await scheduler.waitFor(queue.close())
    }),
    { numRuns: 300 },
  )
  expect(runs).toBeGreaterThan(300)
}
