import { noToken, type OperateOutcome } from '@sluice/core'
import type { ModelDriver } from '../../../src/model/model-driver.ts'
import type { ModelStore } from '../../../src/model/model-store.ts'
import { type Mutant, verbMutant } from '../mutant.ts'

/** The verbs after which a watcher is not woken. */
function mutedAfter(verbs: readonly string[]) {
  return (driver: ModelDriver): Partial<ModelDriver> => {
    let isMuted = false
    const muting = <Args extends unknown[], T>(verb: string, call: (...args: Args) => T) => {
      return (...args: Args): T => {
        isMuted = verbs.includes(verb)
        return call(...args)
      }
    }
    return {
      add: muting('add', driver.add.bind(driver)),
      finish: muting('finish', driver.finish.bind(driver)),
      operate: { ...driver.operate, resume: muting('resume', driver.operate.resume) },
      watch: (onWake) =>
        driver.watch((queue) => {
          if (!isMuted) onWake(queue)
        }),
    }
  }
}

function pausedQueues(store: ModelStore): boolean {
  return [...store.queues.values()].some(({ paused }) => paused)
}

/** Watching and pausing, with one fault each. */
export const operateMutants: readonly Mutant[] = [
  verbMutant('watch-not-add', 'an add wakes no watcher', mutedAfter(['add'])),
  verbMutant('watch-not-finish', 'a finish wakes no watcher', mutedAfter(['finish'])),
  verbMutant('watch-not-resume', 'a resume wakes no watcher', mutedAfter(['resume'])),
  verbMutant('max-pending-cancelled', 'cancelled and removed keys count as pending', (driver) => {
    let gone = 0
    const counting = <T extends string>(outcomes: readonly T[], as: T): readonly T[] => {
      gone += outcomes.filter((outcome) => outcome === as).length
      return outcomes
    }
    return {
      add: (queue, asks, { maxPending = Infinity, ...options }) =>
        driver.add(queue, asks, { ...options, maxPending: maxPending - gone }),
      cancel: (queue, keys) => [...counting(driver.cancel(queue, keys), 'cancelled')],
      operate: {
        ...driver.operate,
        remove: (queue, keys) =>
          counting(driver.operate.remove(queue, keys) as OperateOutcome[], 'changed'),
      },
    }
  }),
  verbMutant('watch-own-only', 'a process is woken by its own changes only', (driver) => {
    let isOwn = false
    return {
      add(...args) {
        isOwn = true
        return driver.add(...args)
      },
      watch: (onWake) =>
        driver.watch((queue) => {
          if (isOwn) onWake(queue)
        }),
    }
  }),
  verbMutant('watch-for-ever', 'a watcher that was stopped is still called', (driver) => ({
    watch(onWake) {
      driver.watch(onWake)
      return () => {}
    },
  })),
  verbMutant('watch-stops-counted', 'a watcher that is stopped twice stops others', (driver) => {
    const stops: (() => void)[] = []
    let left = 0
    return {
      watch(onWake) {
        stops.push(driver.watch(onWake))
        left += 1
        return () => {
          left -= 1
          if (left === 0) for (const stop of stops) stop()
        }
      },
    }
  }),
  verbMutant('watch-wrong-queue', 'a wake names another queue', (driver) => ({
    watch: (onWake) => driver.watch(() => onWake('another')),
  })),
  verbMutant('pause-ignored', 'a pause has no effect', (driver, store) => ({
    claim(queue, request) {
      const { paused } = store.queue(queue)
      store.queue(queue).paused = false
      const reply = driver.claim(queue, request)
      store.queue(queue).paused = paused
      return reply
    },
  })),
  verbMutant(
    'pause-stops-finish',
    'held keys of a paused queue cannot be finished',
    (driver, store) => ({
      finish(queue, finishes, options) {
        if (!store.queue(queue).paused) return driver.finish(queue, finishes, options)
        return finishes.map(() => ({ outcome: 'lost' as const, dueAt: Infinity, failures: 0 }))
      },
    }),
  ),
  verbMutant('pause-everything', 'a pause stops every queue', (driver, store) => ({
    claim(queue, request) {
      const reply = driver.claim(queue, { ...request, ...(pausedQueues(store) && { dueBy: 0 }) })
      return reply
    },
  })),
  verbMutant('pause-shown-everywhere', 'a pause is shown of every queue', (driver, store) => ({
    counts: (queue, options) => ({
      ...driver.counts(queue, options),
      paused: pausedQueues(store),
    }),
  })),
  verbMutant(
    'pause-hides-due',
    'a pause hides when keys of any queue are due',
    (driver, store) => ({
      tick(queue, request) {
        const reply = driver.tick(queue, request)
        return pausedQueues(store) ? { ...reply, nextAt: Infinity } : reply
      },
    }),
  ),
  verbMutant('resume-everything', 'a resume affects every queue', (driver, store) => ({
    operate: {
      ...driver.operate,
      resume(queue) {
        for (const each of store.queues.values())
          if (each !== store.queue(queue)) each.paused = false
        return driver.operate.resume(queue)
      },
    },
  })),
  verbMutant('pause-needs-keys', 'a queue without keys cannot be paused', (driver, store) => ({
    operate: {
      ...driver.operate,
      pause: (queue) =>
        store.queue(queue).keys.size === 0 ? 'unchanged' : driver.operate.pause(queue),
    },
  })),
  verbMutant('pause-of-process', 'a pause holds for one process, while it lives', (driver) => {
    const paused = new Set<string>()
    return {
      operate: {
        ...driver.operate,
        pause(queue) {
          paused.add(queue)
          return driver.operate.pause(queue)
        },
        resume(queue) {
          paused.delete(queue)
          return driver.operate.resume(queue)
        },
      },
      claim(queue, request) {
        const isPaused = paused.has(queue)
        if (!isPaused) void driver.operate.resume(queue)
        return driver.claim(queue, request)
      },
    }
  }),
  verbMutant('pause-hides-counts', 'nothing is counted in a paused queue', (driver) => ({
    counts(queue, options) {
      const counts = driver.counts(queue, options)
      return counts.paused ? { ...counts, ready: 0 } : counts
    },
  })),
  verbMutant(
    'unpark-says-changed',
    'unpark returns changed for keys that it did not change',
    (driver) => ({
      operate: {
        ...driver.operate,
        unpark: (queue, keys, options) =>
          [...(driver.operate.unpark(queue, keys, options) as string[])].map(
            () => 'changed' as const,
          ),
      },
    }),
  ),
  verbMutant('park-missing-unchanged', 'park returns unchanged for missing keys', (driver) => ({
    operate: {
      ...driver.operate,
      park: (queue, keys) =>
        [...(driver.operate.park(queue, keys) as string[])].map((outcome) =>
          outcome === 'missing' ? 'unchanged' : (outcome as 'changed'),
        ),
    },
  })),
  verbMutant('purge-not-held', 'purge counts no held key', (driver, store) => ({
    operate: {
      ...driver.operate,
      purge(queue) {
        const states = [...store.queue(queue).keys.values()].map(({ state }) => state)
        const count = states.filter(({ token }) => token === noToken).length
        void driver.operate.purge(queue)
        return count
      },
    },
  })),
  verbMutant(
    'purge-counts-held',
    'purge counts held keys that it leaves alone',
    (driver, store) => ({
      operate: {
        ...driver.operate,
        purge(queue) {
          const count = store.queue(queue).keys.size
          void driver.operate.purge(queue)
          return count
        },
      },
    }),
  ),
  verbMutant('purge-everywhere', 'purge removes the keys of every queue', (driver, store) => ({
    operate: {
      ...driver.operate,
      purge(queue) {
        const count = driver.operate.purge(queue)
        for (const name of store.queues.keys()) void driver.operate.purge(name)
        return count
      },
    },
  })),
]
