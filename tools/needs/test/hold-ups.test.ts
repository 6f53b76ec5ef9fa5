import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'vitest'
import {
  type HoldUp,
  heldUpMs,
  monotonicNow,
  processorWaitMs,
  startStopwatch,
  watchHoldUps,
} from '../src/hold-ups.ts'

/** Keeps this process from its timers. */
function holdUp(ms: number): void {
  // real time: timers that are late are what is looked for.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

test('times in which several processes are held up are counted once, and only those asked for', () => {
  const holdUps = [
    { from: 50, until: 70 },
    { from: 10, until: 40 },
    { from: 20, until: 30 },
    { from: 30, until: 55 },
    { from: 90, until: 200 },
  ]
  assert.equal(heldUpMs(holdUps, 0, 100), 70)
  assert.equal(heldUpMs(holdUps, 35, 60), 25)
  assert.equal(heldUpMs(holdUps, 75, 80), 0)
  assert.equal(heldUpMs([], 0, 100), 0)
})

test('a process notices that it was held up, and for how long', () => {
  const seen: HoldUp[] = []
  const unwatch = watchHoldUps((heldUp) => seen.push(heldUp))
  const from = monotonicNow()
  holdUp(600)
  const until = monotonicNow()
  unwatch()
  assert.equal(seen.length, 1)
  const [heldUp] = seen
  assert.ok(heldUp !== undefined && heldUp.from <= from && heldUp.until >= until)
})

test('a stopwatch stands still meanwhile', () => {
  const from = monotonicNow()
  const elapsedMs = startStopwatch()
  holdUp(600)
  const measured = elapsedMs()
  assert.ok(monotonicNow() - from - measured >= 600, `${measured} ms`)
})

/** Whether this process, in a sleep of so long, waited for a processor no longer than the sleep was late. */
function waitedOnlyLate(ms: number): boolean {
  const [from, before] = [monotonicNow(), processorWaitMs()]
  holdUp(ms)
  return processorWaitMs() - before <= monotonicNow() - from - ms
}

test('a process that sleeps does not wait for a processor', () => {
  // Every process has waited for one when it began.
  assert.equal(processorWaitMs() > 0, existsSync('/proc/self/schedstat'))
  // A busy machine can take the processor away between the reading of the clock and the sleep: 13 ms were
  // seen. Not each time; a sleep that counted as a wait would count each time.
  assert.ok(Array.from({ length: 20 }).some(() => waitedOnlyLate(50)))
})
