/**
 * Ten thousand keys fail at the same instant, and fail again for ten minutes whenever they are
 * tried. What a limiter does to them, worked out and drawn.
 *
 *     pnpm --filter @sluice/limiters simulate
 *
 * writes docs/guides/rate-limiting.svg. Nothing waits: time is a number, and chance has a seed, so
 * the picture is the same each time.
 */
import { writeFileSync } from 'node:fs'
import { type Clock, type Limiter, systemClock } from '@sluice/core'
import {
  defaultControllerLimiter,
  exponential,
  jittered,
  type Random,
  withMaxWait,
} from '../src/index.ts'
import { draw } from './picture.ts'

/** How many keys fail at once. */
export const keyCount = 10_000

/** How long everything that is tried fails, in milliseconds. */
export const outageMs = 600_000

/** One failure: when it happened, and the delay that the limiter gave. */
export interface Failing {
  readonly atMs: number
  readonly delayMs: number
}

/** What became of the keys under one limiter. */
export interface Simulation {
  /** The limiter, as a reader would write it. */
  readonly title: string
  readonly failures: readonly Failing[]
  /** When the last key had its first good run. */
  readonly lastBackMs: number
  /** The most runs within one second, the first one aside, in which all keys fail. */
  readonly busiestSecond: number
}

/** What a limiter in the simulation needs. */
export interface World {
  readonly clock: Clock
  readonly random: Random
}

/** The limiters that are compared. */
export const contestants: readonly { title: string; make: (world: World) => Limiter<number> }[] = [
  {
    title: 'defaultControllerLimiter()',
    make: ({ clock }) => defaultControllerLimiter({ clock }),
  },
  {
    title: 'exponential({ baseMs: 5, maxMs: 1_000_000 })',
    make: () => exponential({ baseMs: 5, maxMs: 1_000_000 }),
  },
  {
    title: 'withMaxWait(defaultControllerLimiter(), 60_000)',
    make: ({ clock }) => withMaxWait(defaultControllerLimiter({ clock }), 60_000),
  },
  {
    title: 'jittered(withMaxWait(defaultControllerLimiter(), 60_000), 0.5)',
    make: ({ clock, random }) =>
      jittered(withMaxWait(defaultControllerLimiter({ clock }), 60_000), 0.5, { random }),
  },
]

/** Chance with a seed: a generator of Lehmer's, good enough to spread delays. */
function seeded(seed: number): Random {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** Runs that are due, earliest first; a binary heap. */
class DueRuns {
  readonly #runs: { readonly dueMs: number; readonly key: number }[] = []

  add(dueMs: number, key: number): void {
    const runs = this.#runs
    let at = runs.push({ dueMs, key }) - 1
    while (at > 0) {
      const parent = (at - 1) >>> 1
      if (runs[parent]!.dueMs <= dueMs) break
      this.#swap(at, parent)
      at = parent
    }
  }

  take(): { readonly dueMs: number; readonly key: number } | undefined {
    const runs = this.#runs
    const first = runs[0]
    const last = runs.pop()
    if (first === undefined || last === undefined || runs.length === 0) return first
    runs[0] = last
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      const right = left + 1
      let least = at
      if (left < runs.length && runs[left]!.dueMs < runs[least]!.dueMs) least = left
      if (right < runs.length && runs[right]!.dueMs < runs[least]!.dueMs) least = right
      if (least === at) return first
      this.#swap(at, least)
      at = least
    }
  }

  #swap(one: number, other: number): void {
    const runs = this.#runs
    const kept = runs[one]!
    runs[one] = runs[other]!
    runs[other] = kept
  }
}

/** Lets all keys fail under a limiter until each has had a good run. */
export function simulate({ title, make }: (typeof contestants)[number]): Simulation {
  let nowMs = 0
  const clock: Clock = { ...systemClock, now: () => nowMs }
  const limiter = make({ clock, random: seeded(20_250_101) })
  const due = new DueRuns()
  const failures: Failing[] = []
  const runsInSecond = new Map<number, number>()
  for (let key = 0; key < keyCount; key += 1) due.add(0, key)
  for (let run = due.take(); run !== undefined; run = due.take()) {
    nowMs = run.dueMs
    const second = Math.floor(nowMs / 1_000)
    runsInSecond.set(second, (runsInSecond.get(second) ?? 0) + 1)
    if (nowMs >= outageMs) {
      limiter.forget(run.key)
      continue
    }
    const delayMs = limiter.when(run.key)
    failures.push({ atMs: nowMs, delayMs })
    due.add(nowMs + delayMs, run.key)
  }
  runsInSecond.delete(0)
  return {
    title,
    failures,
    lastBackMs: nowMs,
    busiestSecond: Math.max(...runsInSecond.values()),
  }
}

/** The whole picture, as SVG. */
export function picture(simulations: readonly Simulation[]): string {
  return draw(simulations, { keyCount, outageMs })
}

if (import.meta.filename === process.argv[1]) {
  const target = new URL('../../../docs/guides/rate-limiting.svg', import.meta.url)
  const simulations = contestants.map(simulate)
  writeFileSync(target, picture(simulations))
  for (const { title, failures, busiestSecond, lastBackMs } of simulations) {
    console.log(title)
    console.log(`  ${failures.length} failed runs`)
    console.log(`  after the first second at most ${busiestSecond} runs a second`)
    console.log(`  the last key is back after ${(lastBackMs / 1_000).toFixed(1)} s`)
  }
}
