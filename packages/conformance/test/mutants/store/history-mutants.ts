import type { FailedRun, HistoryStep, WorkRecord } from '@sluice/core'
import type { ModelDriver } from '../../../src/model/model-driver.ts'
import { type Mutant, verbMutant } from '../mutant.ts'

type Tick = Parameters<ModelDriver['tick']>[1]

/** The model, which reads steps otherwise. */
function stepsMutant(
  id: string,
  title: string,
  alter: (steps: readonly HistoryStep[], stepMs: number, driver: ModelDriver) => HistoryStep[],
): Mutant {
  return verbMutant(id, title, (driver) => ({
    history(queue, stepMs) {
      const { now, steps } = driver.history(queue, stepMs)
      return { now, steps: alter(steps, stepMs, driver) }
    },
  }))
}

/** The model, which adds other records. */
function recordMutant(
  id: string,
  title: string,
  alter: (record: WorkRecord, request: Tick) => WorkRecord | undefined,
): Mutant {
  return verbMutant(id, title, (driver) => ({
    tick(queue, request) {
      const { record } = request
      return driver.tick(queue, { ...request, record: record && alter(record, request) })
    },
  }))
}

/** The model, which reads failed runs otherwise. */
function runsMutant(
  id: string,
  title: string,
  alter: (runs: readonly FailedRun[], driver: ModelDriver) => readonly FailedRun[],
): Mutant {
  return verbMutant(id, title, (driver) => ({
    failedRuns: (queue) => alter(driver.failedRuns(queue), driver),
  }))
}

/** Histories with one fault each. */
export const historyMutants: readonly Mutant[] = [
  verbMutant('history-unanswered', 'a tick does not say that it has added a record', (driver) => ({
    tick(queue, request) {
      const { recorded: _, ...reply } = driver.tick(queue, { ...request, record: undefined })
      return reply
    },
  })),
  stepsMutant('history-one-resolution', 'only the shortest steps are kept', (steps, stepMs) =>
    stepMs === 10_000 ? [...steps] : [],
  ),
  stepsMutant('history-never-capped', 'no step says that there were more keys', (steps) =>
    steps.map((step) => ({ ...step, depth: { ...step.depth, capped: false } })),
  ),
  recordMutant('history-no-expired', 'expired leases are not recorded', (record) => ({
    ...record,
    expired: 0,
  })),
  recordMutant(
    'history-first-only',
    'the records of the second worker are dropped',
    (record, at) => (at.holder === 'w2' ? undefined : record),
  ),
  stepsMutant('history-32-bit', 'counts are kept as 32-bit numbers', (steps) =>
    steps.map((step) => ({ ...step, merged: step.merged | 0 })),
  ),
  stepsMutant('history-depth-held', 'held keys are not counted', (steps) =>
    steps.map((step) => ({ ...step, depth: { ...step.depth, held: 0 } })),
  ),
  stepsMutant('history-never-paused', 'a pause is not recorded', (steps) =>
    steps.map((step) => ({ ...step, depth: { ...step.depth, paused: false } })),
  ),
  verbMutant('history-depth-again', 'every record counts the keys again', (driver, store) => ({
    history(queue, stepMs) {
      const reply = driver.history(queue, stepMs)
      const latest = store.queue(queue).records.at(-1)?.depth
      const last = reply.steps.length - 1
      const steps = reply.steps.map((step, at) =>
        at === last && latest !== undefined ? { ...step, depth: latest } : step,
      )
      return { ...reply, steps }
    },
  })),
  verbMutant(
    'history-of-heartbeats',
    'a heartbeat without a record adds an empty one',
    (driver) => ({
      tick(queue, request) {
        const none = { started: 0, done: 0, failed: 0, added: 0, merged: 0, expired: 0 }
        const { record = { ...none, codes: [], failedRuns: [] }, worker } = request
        return driver.tick(queue, worker === undefined ? request : { ...request, record })
      },
    }),
  ),
  verbMutant(
    'history-for-ever',
    'steps are dropped when the next one is recorded, if ever',
    (driver) => {
      const seen = new Map<string, readonly HistoryStep[]>()
      return {
        history(queue, stepMs) {
          const reply = driver.history(queue, stepMs)
          const id = `${queue} ${stepMs}`
          const steps = reply.steps.length > 0 ? reply.steps : (seen.get(id) ?? [])
          seen.set(id, steps)
          return { ...reply, steps }
        },
      }
    },
  ),
  stepsMutant(
    'history-fewer-steps',
    'a resolution keeps a step less than it should',
    (steps, stepMs) => (stepMs === 10_000 ? steps.slice(-29) : [...steps]),
  ),
  verbMutant('history-of-all-queues', 'all queues share one history', (driver, store) => ({
    history(queue, stepMs) {
      const reply = driver.history(queue, stepMs)
      const all = [...store.queues.keys()].flatMap((name) => driver.history(name, stepMs).steps)
      return { ...reply, steps: all }
    },
  })),
  verbMutant(
    'failed-runs-of-all-queues',
    'all queues share their failed runs',
    (driver, store) => ({
      failedRuns: () => [...store.queues.keys()].flatMap((name) => driver.failedRuns(name)),
    }),
  ),
  stepsMutant(
    'history-all-codes',
    'the order of codes is that of their first failed run',
    (steps) => steps.map((step) => ({ ...step, codes: [...step.codes].sort() })),
  ),
  runsMutant('failed-runs-oldest-first', 'failed runs are listed oldest first', (runs) =>
    [...runs].reverse(),
  ),
  runsMutant('failed-runs-without-text', 'the errors of failed runs are cut off', (runs) =>
    runs.map((run) => ({ ...run, lastError: run.lastError.slice(0, 20) })),
  ),
  verbMutant('failed-runs-of-living-keys', 'failed runs go with their keys', (driver, store) => ({
    failedRuns(queue) {
      const { keys } = store.queue(queue)
      const isPurged = keys.size === 0 && store.queue(queue).failedRuns.length === 3
      return isPurged ? [] : driver.failedRuns(queue)
    },
  })),
  verbMutant(
    'failed-runs-pushed-out',
    'the newest failed runs are kept, of whatever code',
    (driver, store) => ({
      failedRuns: (queue) => {
        const kept = driver.failedRuns(queue)
        const all = store.queue(queue).failedRuns
        return all.length > 20 && all.length < 40 ? kept.filter(({ code }) => code === 'E') : kept
      },
    }),
  ),
  verbMutant('failed-runs-unbounded', 'all failed runs are kept', (driver, store) => ({
    failedRuns(queue) {
      const all = [...store.queue(queue).failedRuns].reverse()
      return all.length > 60 ? all : driver.failedRuns(queue)
    },
  })),
  verbMutant(
    'failed-runs-for-ever',
    'failed runs are kept for more than a day',
    (driver, store) => ({
      failedRuns(queue) {
        const runs = driver.failedRuns(queue)
        return runs.length > 0 ? runs : [...store.queue(queue).failedRuns]
      },
    }),
  ),
]
