import { durationBoundsMs } from '@sluice/core'
import type { WorkerRow } from 'sluice'
import { expect, test } from 'vitest'
import { RunDurations } from '../src/views/durations/run-durations.ts'

/** The heartbeat of a worker of which each run took as long as the bound at an index. */
function beat(holder: string, seenAt: number, runs: readonly [index: number, count: number][]) {
  const counts = durationBoundsMs.map(() => 0)
  for (const [index, count] of runs) counts[index] = count
  const stats = { busy: 0, runs: 0, failed: 0, asked: 0, merged: 0, wait: counts, work: counts }
  const worker = { holder, host: 'h', pid: 1, concurrency: 1, settings: {}, startedAt: 0, seenAt }
  return { ...worker, stats } satisfies WorkerRow
}

/** Long after the workers have started. */
const late = 1_000_000

/** How many runs were counted under each bound that has some. */
function counted(durations: RunDurations, at: number): Record<number, number> | undefined {
  const counts = durations.figures(at).workHistogram?.counts
  if (counts === undefined) return undefined
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0))
}

test('until two heartbeats were seen, runs since the start of each worker are counted', () => {
  const durations = new RunDurations()
  expect(counted(durations, late)).toBeUndefined()
  durations.record(late, [beat('a', late, [[3, 5]]), beat('b', late, [[3, 1]])])
  expect(counted(durations, late)).toEqual({ 3: 6 })
})

test('then those between the first and the last heartbeat of a minute and some seconds', () => {
  const durations = new RunDurations()
  durations.record(late, [beat('a', late, [[3, 5]])])
  durations.record(late + 10_000, [
    beat('a', late + 10_000, [
      [3, 5],
      [4, 2],
    ]),
  ])
  expect(counted(durations, late + 10_000)).toEqual({ 4: 2 })
  durations.record(late + 80_000, [
    beat('a', late + 80_000, [
      [3, 5],
      [4, 2],
      [5, 1],
    ]),
  ])
  expect(counted(durations, late + 80_000)).toEqual({ 5: 1 })
})

test('a worker that is gone no longer counts', () => {
  const durations = new RunDurations()
  durations.record(late, [beat('a', late, [[3, 5]]), beat('b', late, [[4, 1]])])
  durations.record(late, [beat('b', late, [[4, 1]])])
  expect(counted(durations, late)).toEqual({ 4: 1 })
})
