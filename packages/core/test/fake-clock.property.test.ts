import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'vitest'
import { fakeClock } from '../src/testing/index.ts'

// Random programs of timers, tickers, stops, resets, steps and wall jumps run on the clock and on
// a model of it that keeps everything in one unsorted list and looks for the least entry each time.

interface Entry {
  readonly name: number
  dueAt: number
  order: number
  readonly everyMs: number | undefined
}

class Model {
  wall = 0
  monotonic = 0
  entries: Entry[] = []
  log: string[] = []
  #orders = 0

  arm(name: number, ms: number, everyMs?: number): void {
    const dueAt = this.wall + Math.max(0, ms)
    this.entries.push({ name, dueAt, order: this.#orders, everyMs })
    this.#orders += 1
  }

  stop(name: number): boolean {
    const before = this.entries.length
    this.entries = this.entries.filter((entry) => entry.name !== name)
    return this.entries.length < before
  }

  jump(wall: number): void {
    for (const entry of this.entries) entry.dueAt += wall - this.wall
    this.wall = wall
  }

  step(ms: number): void {
    const target = this.wall + ms
    for (;;) {
      const sorted = [...this.entries].sort((a, b) => a.dueAt - b.dueAt || a.order - b.order)
      const next = sorted[0]
      if (next === undefined || next.dueAt > target) break
      this.#move(Math.max(this.wall, next.dueAt))
      this.log.push(`${next.name}@${this.wall}`)
      if (next.everyMs === undefined) this.stop(next.name)
      else next.dueAt += next.everyMs
    }
    this.#move(target)
  }

  #move(wall: number): void {
    this.monotonic += wall - this.wall
    this.wall = wall
  }
}

// Quarters are exact in binary, so that the model needs no care for rounding.
const quarters = (max: number) => fc.integer({ min: -4, max: max * 4 }).map((n) => n / 4)

const command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('timer' as const), ms: quarters(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('ticker' as const),
      ms: fc.integer({ min: 4, max: 40 }).map((n) => n / 4),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const), which: fc.nat(30) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('reset' as const),
      which: fc.nat(30),
      ms: quarters(20),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('step' as const),
      ms: fc.nat(60).map((n) => n / 4),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('jump' as const), ms: quarters(10_000) }) },
)

test('the clock does what a sorted list would', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (program) => {
      const clock = fakeClock(0)
      const model = new Model()
      model.monotonic = clock.monotonicMs()
      const log: string[] = []
      const handles: { stop(): boolean; reset?(ms: number): boolean }[] = []
      for (const step of program) {
        const name = handles.length
        const fire = () => {
          log.push(`${name}@${clock.now()}`)
        }
        if (step.do === 'timer') {
          handles.push(clock.startTimer(step.ms, fire))
          model.arm(name, step.ms)
        } else if (step.do === 'ticker') {
          handles.push(clock.startTicker(step.ms, fire))
          model.arm(name, step.ms, step.ms)
        } else if (step.do === 'stop') {
          const handle = handles[step.which]
          if (handle !== undefined) assert.equal(handle.stop(), model.stop(step.which))
        } else if (step.do === 'reset') {
          const handle = handles[step.which]
          if (handle?.reset === undefined) continue
          assert.equal(handle.reset(step.ms), model.stop(step.which))
          model.arm(step.which, step.ms)
        } else if (step.do === 'jump') {
          clock.setTime(step.ms)
          model.jump(step.ms)
        } else {
          await clock.step(step.ms)
          model.step(step.ms)
        }
        const next = Math.min(...model.entries.map((entry) => entry.dueAt))
        assert.equal(clock.nextAt() ?? Infinity, next)
        assert.equal(clock.waiters(), model.entries.length)
      }
      assert.deepEqual(log, model.log)
      assert.deepEqual([clock.now(), clock.monotonicMs()], [model.wall, model.monotonic])
    }),
    { numRuns: 300 },
  )
})

test('one long step is the same as many short ones', async () => {
  const delays = fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { maxLength: 30 })
  const cuts = fc.array(fc.double({ min: 0, max: 20, noNaN: true }), { maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(delays, cuts, async (delaysMs, cutsMs) => {
      const run = async (stepsMs: readonly number[]): Promise<string[]> => {
        const clock = fakeClock(0)
        const log: string[] = []
        for (const [index, ms] of delaysMs.entries()) {
          clock.startTimer(ms, () => log.push(`${index}@${clock.now()}`))
        }
        for (const ms of stepsMs) await clock.step(ms)
        return log
      }
      assert.deepEqual(await run([...cutsMs, 200]), await run([1_000]))
    }),
    { numRuns: 100 },
  )
})

test('the wall clock is where it was set, and never runs backwards between jumps', async () => {
  const instants = fc.double({ min: -8.64e15, max: 8.64e15, noNaN: true })
  const stepsMs = fc.double({ min: 0, max: 1e12, noNaN: true })
  const jumpAndStep = fc.tuple(instants, stepsMs)
  await fc.assert(
    fc.asyncProperty(fc.array(jumpAndStep, { maxLength: 10 }), async (program) => {
      const clock = fakeClock()
      for (const [instant, stepMs] of program) {
        clock.setTime(instant)
        assert.equal(clock.now(), instant)
        const monotonic = clock.monotonicMs()
        await clock.step(stepMs)
        assert.equal(clock.now(), instant + stepMs)
        assert.ok(clock.monotonicMs() >= monotonic)
      }
    }),
    { numRuns: 100 },
  )
})
