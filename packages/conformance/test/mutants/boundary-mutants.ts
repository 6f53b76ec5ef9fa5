import { never } from '@sluice/core'
import type { ModelDriver } from '../../src/model/model-driver.ts'
import type { ModelKey, ModelStore } from '../../src/model/model-store.ts'
import { type Mutant, ruleMutant, verbMutant } from './mutant.ts'

/** All keys of a queue. */
function keysOf(store: ModelStore, queue: string): ModelKey[] {
  return [...store.queue(queue).keys.values()]
}

/** Hands out tokens from 1 again once `forgets` is called and no key of the store is held. */
function resettable(store: ModelStore): () => void {
  const next = store.nextToken.bind(store)
  let base = 0
  store.nextToken = () => next() - base
  return () => {
    const names = [...store.queues.keys()]
    if (names.every((name) => keysOf(store, name).every(({ state }) => state.token === 0))) {
      base = store.lastToken
    }
  }
}

/** A driver that changes what is stored when it is opened, as one does that stores too little. */
function openMutant(id: string, title: string, spoil: (entry: ModelKey) => void): Mutant {
  return verbMutant(id, title, (driver, store) => ({
    open(options) {
      for (const name of store.queues.keys()) for (const each of keysOf(store, name)) spoil(each)
      driver.open(options)
    },
  }))
}

function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  return a.key < b.key ? -1 : 1
}

/** Operates on keys in the order of their names, as a driver that locks them does. */
function unparkSorted(
  driver: ModelDriver,
  queue: string,
  keys: readonly string[],
  forget: boolean,
) {
  const sorted = [...keys].sort()
  return { sorted, outcomes: driver.operate.unpark(queue, sorted, { forget }) }
}

/** Faults at the edges of what keys, counts, leases and orders can be, one each. */
export const boundaryMutants: readonly Mutant[] = [
  verbMutant(
    'due-by-ready-at',
    'dueBy is compared with when a key became ready',
    (driver, store) => ({
      claim(queue, request) {
        const { dueBy = Infinity } = request
        const late = keysOf(store, queue).filter(
          ({ state }) => !state.parked && state.token === 0 && state.readyAt > dueBy,
        )
        for (const { state } of late) state.parked = true
        const reply = driver.claim(queue, request)
        for (const { state } of late) state.parked = false
        return reply
      },
    }),
  ),
  verbMutant(
    'pause-hides-lease-ends',
    'a claim of a paused queue reports no expired leases',
    (driver, store) => ({
      claim(queue, request) {
        const reply = driver.claim(queue, request)
        return store.queue(queue).paused ? { ...reply, leaseEnds: [] } : reply
      },
    }),
  ),
  verbMutant('pause-always-changes', 'a pause always returns changed', (driver) => ({
    operate: {
      ...driver.operate,
      async pause(queue) {
        await driver.operate.pause(queue)
        return 'changed' as const
      },
    },
  })),
  verbMutant('purge-resumes', 'a purge ends the pause of its queue', (driver) => ({
    operate: {
      ...driver.operate,
      async purge(queue) {
        const purged = await driver.operate.purge(queue)
        await driver.operate.resume(queue)
        return purged
      },
    },
  })),
  verbMutant('purge-resets-tokens', 'after a purge tokens begin again', (driver, store) => {
    const reset = resettable(store)
    return {
      operate: {
        ...driver.operate,
        async purge(queue) {
          const purged = await driver.operate.purge(queue)
          reset()
          return purged
        },
      },
    }
  }),
  verbMutant('full-counts-failure', 'a rejected add counts its failure', (driver, store) => ({
    add(queue, asks, options) {
      const replies = driver.add(queue, asks, options)
      for (const [at, { key, failed }] of asks.entries()) {
        const entry = store.queue(queue).keys.get(key)
        if (replies[at]?.outcome === 'full' && failed && entry) entry.state.failures += 1
      }
      return replies
    },
  })),
  verbMutant('max-pending-not-parked', 'parked keys are not pending', (driver, store) => ({
    add(queue, asks, options) {
      const { maxPending = Infinity } = options
      const parked = keysOf(store, queue).filter(({ state }) => state.parked)
      const pending = parked.filter(({ state }) => state.dueAt !== never).length
      return driver.add(queue, asks, { ...options, maxPending: maxPending + pending })
    },
  })),
  verbMutant('max-pending-dirty-twice', 'a dirty key counts twice once it is done', (driver) => {
    let doubled = 0
    return {
      add: (queue, asks, { maxPending = Infinity, ...options }) =>
        driver.add(queue, asks, { ...options, maxPending: maxPending - doubled }),
      finish(queue, finishes, options) {
        const replies = driver.finish(queue, finishes, options)
        replies.forEach(({ outcome }, at) => {
          if (finishes[at]?.as === 'done' && outcome === 'ready') doubled += 1
        })
        return replies
      },
    }
  }),
  verbMutant('renew-a-day', 'no renewal is for longer than a day', (driver) => ({
    renew: (queue, leases, leaseMs) => driver.renew(queue, leases, Math.min(leaseMs, 86_400_000)),
  })),
  verbMutant('unpark-answers-sorted', 'unpark answers in the order of the keys', (driver) => ({
    operate: {
      ...driver.operate,
      unpark: (queue, keys, { forget }) => unparkSorted(driver, queue, keys, forget).outcomes,
    },
  })),
  verbMutant('arguments-sorted', 'keys are sorted where the caller keeps them', (driver) => ({
    cancel: (queue, keys) => driver.cancel(queue, (keys as string[]).sort()),
  })),
  verbMutant('expire-sorted', 'leases are ended in the order of their keys', (driver) => ({
    expire(queue, leases, options) {
      const sorted = [...leases].sort((a, b) => (a.key < b.key ? -1 : 1))
      const outcomes = driver.expire(queue, sorted, options)
      return leases.map((lease) => outcomes[sorted.indexOf(lease)] as 'lost')
    },
  })),
  verbMutant('unpark-sorted', 'keys are unparked in the order of their names', (driver) => ({
    operate: {
      ...driver.operate,
      async unpark(queue, keys, { forget }) {
        const { sorted, outcomes } = unparkSorted(driver, queue, keys, forget)
        const answers = await outcomes
        return keys.map((key) => answers[sorted.indexOf(key)] as 'missing')
      },
    },
  })),
  ruleMutant('tie-backoff-first', 'of keys due at one instant failed ones come first', () => ({
    comesBefore: (a, b) =>
      b.priority - a.priority ||
      a.readyAt - b.readyAt ||
      Number(b.why === 'backoff') - Number(a.why === 'backoff') ||
      a.seq - b.seq,
  })),
  ruleMutant('order-whole-ms', 'keys are ordered by whole milliseconds', () => ({
    comesBefore: (a, b) =>
      b.priority - a.priority || Math.floor(a.readyAt) - Math.floor(b.readyAt) || a.seq - b.seq,
  })),
  verbMutant('priority-edge', 'the highest priority is treated as the one below', (driver) => ({
    add(queue, asks, options) {
      const lower = asks.map((ask) => ({ ...ask, priority: Math.min(999, ask.priority) }))
      return driver.add(queue, lower, options)
    },
  })),
  verbMutant('retry-without-jitter', 'a retry ignores the random part', (driver) => ({
    finish(queue, finishes, options) {
      const plain = finishes.map((each) => (each.as === 'retry' ? { ...each, jitter: 0 } : each))
      return driver.finish(queue, plain, options)
    },
  })),
  verbMutant('claim-full-no-ends', 'a full claim does not look at leases', (driver) => ({
    claim(queue, request) {
      const reply = driver.claim(queue, request)
      return reply.claims.length === request.limit ? { ...reply, leaseEnds: [] } : reply
    },
  })),
  verbMutant('workers-host-cut', 'the names of hosts are truncated', (driver) => ({
    workers: (queue, withinMs) =>
      driver.workers(queue, withinMs).map((row) => ({ ...row, host: row.host.slice(0, 64) })),
  })),
  verbMutant(
    'names-joined',
    'the key of a row is the queue, a line feed, and the key',
    (driver) => {
      const queues = new Map<string, string>()
      return {
        add(queue, asks, options) {
          for (const { key } of asks) {
            const name = `${queue}\n${key}`
            if (!queues.has(name)) queues.set(name, queue)
            const owner = queues.get(name) as string
            if (owner !== queue) return driver.add(owner, asks, options)
          }
          return driver.add(queue, asks, options)
        },
      }
    },
  ),
  verbMutant(
    'queues-not-parked',
    'a queue with nothing but parked keys is not listed',
    (driver, store) => ({
      queues: () =>
        driver.queues().filter((name) => {
          const keys = keysOf(store, name)
          return keys.length === 0 || keys.some(({ state }) => !state.parked)
        }),
    }),
  ),
  openMutant(
    'restart-loses-position',
    'the position of a claimed run is not stored',
    ({ state }) => {
      if (state.token !== 0) state.claimedReadyAt = state.leaseUntil
    },
  ),
  openMutant(
    'restart-ends-endless',
    'a hold without a lease is stored with one that has expired',
    ({ state }) => {
      if (state.token !== 0 && state.leaseUntil === never) state.leaseUntil = 0
    },
  ),
  verbMutant('lease-answers-sorted', 'leases are answered in the order of the keys', (driver) => ({
    expire: (queue, leases, options) => driver.expire(queue, leases.toSorted(byKey), options),
  })),
  verbMutant('renew-ends-crashes', 'a renewal resets crashes', (driver, store) => ({
    renew(queue, leases, leaseMs) {
      const replies = driver.renew(queue, leases, leaseMs)
      for (const [at, { key }] of leases.entries()) {
        const entry = store.queue(queue).keys.get(key)
        if (replies[at]?.outcome === 'renewed' && entry) entry.state.crashes = 0
      }
      return replies
    },
  })),
  verbMutant('error-empty-is-none', 'an empty error is treated as none', (driver) => ({
    expire: (queue, leases, { error, ...options }) =>
      driver.expire(queue, leases, { ...options, error: error === '' ? undefined : error }),
  })),
  verbMutant('import-empty-is-none', 'an empty error is imported as none', (driver) => ({
    transfer: {
      ...driver.transfer,
      importRows: (queue, rows) =>
        driver.transfer.importRows(
          queue,
          rows.map((row) => ({
            ...row,
            lastError: row.lastError === '' ? undefined : row.lastError,
          })),
        ),
    },
  })),
  verbMutant('error-ends-with-run', 'a key that becomes idle loses its error', (driver, store) => ({
    finish(queue, finishes, options) {
      const replies = driver.finish(queue, finishes, options)
      for (const [at, { key }] of finishes.entries()) {
        const entry = store.queue(queue).keys.get(key)
        if (replies[at]?.outcome === 'idle' && entry) entry.lastError = undefined
      }
      return replies
    },
  })),
  verbMutant('error-outlives-key', 'a key that was gone has its error again', (driver) => {
    const errors = new Map<string, string | undefined>()
    return {
      finish(queue, finishes, options) {
        for (const each of finishes) if (each.as === 'retry') errors.set(each.key, each.error)
        return driver.finish(queue, finishes, options)
      },
      list(queue, request) {
        const reply = driver.list(queue, request)
        const rows = reply.rows.map((row) => ({
          ...row,
          lastError: row.lastError ?? errors.get(row.key),
        }))
        return { ...reply, rows }
      },
    }
  }),
  verbMutant('lease-end-first-error', 'the first lease of a batch gets the error', (driver) => ({
    expire: (queue, leases, options) =>
      leases.flatMap((lease, at) =>
        driver.expire(queue, [lease], at === 0 ? options : { ...options, error: undefined }),
      ),
  })),
  ruleMutant('failures-overflow', 'failures are 32-bit integers', (rules) => ({
    retry(state, ...rest) {
      const before = state.failures
      const outcome = rules.retry(state, ...rest)
      if (outcome !== 'lost') state.failures = (before + 1) | 0
      return outcome
    },
  })),
  verbMutant('watch-not-delayed', 'a delayed add wakes no watcher', (driver, store) => ({
    add(queue, asks, options) {
      const wake = store.wake.bind(store)
      if (asks.every(({ delayMs }) => delayMs > 0)) store.wake = () => {}
      const replies = driver.add(queue, asks, options)
      store.wake = wake
      return replies
    },
  })),
  verbMutant('watch-one-slot', 'only the last watcher is called', (driver) => {
    let stop = (): void => {}
    return {
      watch(onWake) {
        stop()
        stop = driver.watch(onWake)
        return stop
      },
    }
  }),
  verbMutant('watch-outlives-close', 'a closed driver calls its watchers', (_, store) => ({
    watch(onWake) {
      const watcher = (queue: string | undefined): void => onWake(queue)
      store.watchers.add(watcher)
      return () => void store.watchers.delete(watcher)
    },
  })),
  verbMutant('counts-capped-early', 'counts that reach the cap are capped', (driver) => ({
    counts(queue, options) {
      const counts = driver.counts(queue, options)
      return { ...counts, capped: counts.capped || counts.ready === options.cap }
    },
  })),
  verbMutant('counts-oldest-due', 'the oldest ready key is the one due first', (driver) => ({
    counts(queue, options) {
      const { rows } = driver.list(queue, { limit: 10_000, state: 'ready' })
      const oldestReadyAt = Math.min(never, ...rows.map(({ dueAt }) => dueAt))
      return { ...driver.counts(queue, options), oldestReadyAt }
    },
  })),
  verbMutant('list-keys-unfiltered', 'keys requested by name are not restricted', (driver) => ({
    list: (queue, { state, prefix, ...request }) =>
      driver.list(queue, request.keys === undefined ? { ...request, state, prefix } : request),
  })),
  verbMutant('list-cursor-if-full', 'every full page has a cursor', (driver) => ({
    list(queue, request) {
      const reply = driver.list(queue, request)
      const last = reply.rows[request.limit - 1]
      return last === undefined || request.keys ? reply : { ...reply, cursor: last.key }
    },
  })),
  verbMutant('list-prefix-range', 'a prefix is a range that ends with U+FFFF', (driver) => ({
    list(queue, request) {
      const { prefix = '' } = request
      const reply = driver.list(queue, request)
      const end = Buffer.from(`${prefix}\uffff`)
      const isBefore = (key: string): boolean => Buffer.compare(Buffer.from(key), end) < 0
      return prefix === ''
        ? reply
        : { ...reply, rows: reply.rows.filter(({ key }) => isBefore(key)) }
    },
  })),
  verbMutant('list-no-claimed-run', 'a held key is listed without the run it has', (driver) => ({
    list(queue, request) {
      const reply = driver.list(queue, request)
      return { ...reply, rows: reply.rows.map((row) => ({ ...row, claimedAskedAt: never })) }
    },
  })),
  verbMutant('list-live', 'a listed row changes with its key', (driver, store) => ({
    list(queue, request) {
      const reply = driver.list(queue, request)
      const rows = reply.rows.map((row) => {
        const live = { ...row }
        const state = store.queue(queue).keys.get(row.key)?.state
        Object.defineProperty(live, 'dueAt', { enumerable: true, get: () => state?.dueAt })
        return live
      })
      return { ...reply, rows }
    },
  })),
]
