import {
  type KeyRow,
  keyStateWords,
  type ListReply,
  never,
  type WorkerStats,
  workerMsMax,
} from '@sluice/core'
import type { ModelDriver } from '../../../src/model/model-driver.ts'
import type { ModelQueue } from '../../../src/model/model-store.ts'
import { type Mutant, verbMutant } from '../mutant.ts'

/** The time of the next change, with the time of each key by `at`. */
function nextAt(driver: ModelDriver, queue: string, at: (row: KeyRow) => number): number {
  return Math.min(Infinity, ...driver.list(queue, { limit: 1_000 }).rows.map(at))
}

const waitsOrEnds = (row: KeyRow): number => (row.token === 0 ? row.dueAt : row.leaseUntil)

function tickMutant(
  id: string,
  title: string,
  look: (driver: ModelDriver, queue: string, now: number, right: number) => number,
): Mutant {
  return verbMutant(id, title, (driver) => ({
    tick(queue, request) {
      const reply = driver.tick(queue, request)
      return { ...reply, nextAt: look(driver, queue, reply.now, reply.nextAt) }
    },
  }))
}

function listMutant(
  id: string,
  title: string,
  list: (driver: ModelDriver, ...args: Parameters<ModelDriver['list']>) => ListReply,
): Mutant {
  return verbMutant(id, title, (driver) => ({
    list: (queue, request) => list(driver, queue, request),
  }))
}

const everything = { limit: 10_000 } as const

function pageOf(reply: ListReply, from: number, limit: number): ListReply {
  const rows = reply.rows.slice(from, from + limit)
  const next = from + limit
  return { now: reply.now, rows, ...(next < reply.rows.length && { cursor: String(next) }) }
}

/** Counting, listing and ticking, with one fault each. */
export const countsAndListMutants: readonly Mutant[] = [
  tickMutant('tick-parked', 'parked keys set the time of the next change', (driver, queue) =>
    nextAt(driver, queue, waitsOrEnds),
  ),
  tickMutant(
    'tick-dirty',
    'dirty keys set the time of the next change',
    (driver, queue, _, right) =>
      Math.min(
        right,
        nextAt(driver, queue, (row) => (row.token === 0 ? Infinity : row.dueAt)),
      ),
  ),
  tickMutant('tick-future-only', 'keys that are due already are ignored', (driver, queue, now) =>
    nextAt(driver, queue, (row) =>
      waitsOrEnds(row) > now && !row.parked ? waitsOrEnds(row) : Infinity,
    ),
  ),
  tickMutant('tick-no-leases', 'the ends of leases are ignored', (driver, queue) =>
    nextAt(driver, queue, (row) => (row.token === 0 && !row.parked ? row.dueAt : Infinity)),
  ),
  tickMutant('tick-hot', 'with no change to come, a tick returns now', (_, __, now, right) =>
    right === Infinity ? now : right,
  ),
  tickMutant(
    'tick-whole-ms',
    'the next time is rounded to whole milliseconds',
    (_, __, ___, right) => Math.trunc(right),
  ),
  verbMutant('tick-no-ends', 'a tick reports no expired leases', (driver) => ({
    tick: (queue, request) => ({ ...driver.tick(queue, request), leaseEnds: [] }),
  })),
  verbMutant('tick-unbounded', 'a tick reports every expired lease at once', (driver) => ({
    tick: (queue, request) => driver.tick(queue, { ...request, limit: 1_000 }),
  })),
  verbMutant('tick-never-sweeps', 'nothing is swept', (driver) => ({
    tick: (queue, request) => driver.tick(queue, { ...request, failuresExpireMs: Infinity }),
  })),
  verbMutant('tick-not-paused', 'a tick ignores pauses', (driver, store) => ({
    tick(queue, request) {
      const reply = driver.tick(queue, request)
      return store.queue(queue).paused ? { ...reply, nextAt: reply.now } : reply
    },
  })),
  verbMutant('ends-of-all-queues', 'a queue reports the leases of the others', (driver, store) => ({
    claim(queue, request) {
      const reply = driver.claim(queue, request)
      const others = [...store.queues.keys()].filter((name) => name !== queue)
      const leaseEnds = others.flatMap(
        (name) => driver.tick(name, { holder: '', limit: 9, failuresExpireMs: Infinity }).leaseEnds,
      )
      return { ...reply, leaseEnds: [...reply.leaseEnds, ...leaseEnds] }
    },
  })),
  verbMutant('workers-restart', 'every heartbeat registers a new worker', (driver) => ({
    workers: (queue, withinMs) =>
      driver.workers(queue, withinMs).map((row) => ({ ...row, startedAt: row.seenAt })),
  })),
  verbMutant('workers-without-stats', 'the totals of workers are dropped', (driver) => ({
    workers: (queue, withinMs) =>
      driver.workers(queue, withinMs).map(({ stats: _, ...row }) => row),
  })),
  verbMutant('workers-stale-stats', 'the totals of a worker are never updated', (driver) => {
    const first = new Map<string, WorkerStats>()
    return {
      tick(queue, request) {
        const { worker } = request
        if (worker?.stats === undefined) return driver.tick(queue, request)
        const stats = first.get(worker.holder) ?? worker.stats
        first.set(worker.holder, stats)
        return driver.tick(queue, { ...request, worker: { ...worker, stats } })
      },
    }
  }),
  verbMutant('workers-for-ever', 'workers are listed indefinitely', (driver) => ({
    workers: (queue) => driver.workers(queue, Infinity),
  })),
  verbMutant('workers-exclusive', 'a worker is dropped a little early', (driver) => ({
    workers: (queue, withinMs) => driver.workers(queue, withinMs - 1),
  })),
  verbMutant('workers-less-than-a-day', 'a worker is on record for less than a day', (driver) => ({
    workers: (queue, withinMs) => driver.workers(queue, Math.min(withinMs, workerMsMax - 1)),
  })),
  verbMutant('workers-of-all-queues', 'workers of all queues are listed', (driver, store) => ({
    workers: (_, withinMs) =>
      [...store.queues.keys()].flatMap((name) => driver.workers(name, withinMs)),
  })),
  verbMutant('counts-dirty-twice', 'a dirty key is counted twice', (driver) => ({
    counts(queue, options) {
      const counts = driver.counts(queue, options)
      return { ...counts, processing: counts.processing + counts.dirty }
    },
  })),
  verbMutant('counts-uncapped', 'counting does not report that it stopped', (driver) => ({
    counts: (queue, options) => ({ ...driver.counts(queue, options), capped: false }),
  })),
  verbMutant('counts-idle-uncapped', 'counting idle keys does not report its end', (driver) => ({
    counts(queue, { cap }) {
      const whole = driver.counts(queue, { cap: Infinity })
      const capped = keyStateWords.some((word) => word !== 'idle' && whole[word] > cap)
      return { ...driver.counts(queue, { cap }), capped }
    },
  })),
  verbMutant('counts-parked-idle', 'a parked key without a run is also idle', (driver) => ({
    counts(queue, options) {
      const counts = driver.counts(queue, options)
      const { rows } = driver.list(queue, everything)
      const resting = rows.filter(({ state, dueAt }) => state === 'parked' && dueAt === Infinity)
      return { ...counts, idle: counts.idle + resting.length }
    },
  })),
  verbMutant('counts-32-bit', 'a cap of more than 32 bits is treated as zero', (driver) => ({
    counts: (queue, { cap }) => driver.counts(queue, { cap: cap > 2 ** 31 - 1 ? 0 : cap }),
  })),
  verbMutant('counts-not-paused', 'the counts ignore pauses', (driver) => ({
    counts: (queue, options) => ({ ...driver.counts(queue, options), paused: false }),
  })),
  verbMutant('counts-oldest-any', 'delayed keys count as the oldest', (driver) => ({
    counts(queue, options) {
      const { rows } = driver.list(queue, everything)
      const oldestReadyAt = Math.min(Infinity, ...rows.map(({ dueAt }) => dueAt))
      return { ...driver.counts(queue, options), oldestReadyAt }
    },
  })),
  verbMutant('counts-held-until-first', 'the first lease to end counts', (driver) => ({
    counts(queue, options) {
      const held = driver.list(queue, everything).rows.filter(({ token }) => token !== 0)
      const heldUntil = Math.min(Infinity, ...held.map(({ leaseUntil }) => leaseUntil))
      return { ...driver.counts(queue, options), heldUntil }
    },
  })),
  listMutant('list-old-lease', 'a key that is not held has a lease', (driver, queue, request) => {
    const reply = driver.list(queue, request)
    return {
      ...reply,
      rows: reply.rows.map((row) => ({
        ...row,
        leaseUntil: row.leaseUntil === never ? row.dueAt : row.leaseUntil,
      })),
    }
  }),
  listMutant(
    'list-keys-limited',
    'keys requested by name are truncated at the limit',
    (driver, queue, request) => {
      const reply = driver.list(queue, request)
      return { ...reply, rows: reply.rows.slice(0, request.limit) }
    },
  ),
  listMutant(
    'list-utf16',
    'keys are listed in the order of their UTF-16',
    (driver, queue, request) => {
      const reply = driver.list(queue, request)
      return { ...reply, rows: [...reply.rows].sort((a, b) => (a.key < b.key ? -1 : 1)) }
    },
  ),
  listMutant(
    'list-cursor-utf16',
    'a page begins after the last key of the one before in the order of UTF-16',
    (driver, queue, request) => {
      const { cursor: after = '', ...rest } = request
      if (request.keys !== undefined) return driver.list(queue, request)
      const { now, rows } = driver.list(queue, { ...rest, ...everything })
      const page = rows.filter(({ key }) => key > after).slice(0, request.limit)
      const last = page.at(-1)
      return { now, rows: page, ...(last && last !== rows.at(-1) && { cursor: last.key }) }
    },
  ),
  listMutant('list-offset', 'pages are counted from the start', (driver, queue, request) => {
    if (request.keys !== undefined) return driver.list(queue, request)
    const { cursor, limit, ...rest } = request
    return pageOf(driver.list(queue, { ...rest, ...everything }), Number(cursor ?? 0), limit)
  }),
  listMutant(
    'list-repeats',
    'a page repeats the last key of the one before',
    (driver, queue, request) => {
      const { cursor } = request
      const before = cursor === undefined ? undefined : cursor.slice(0, -1)
      return driver.list(queue, { ...request, cursor: before })
    },
  ),
  listMutant('list-like', 'a prefix is a pattern', (driver, queue, request) => {
    const { prefix = '', ...rest } = request
    const escaped = prefix.replaceAll('%', '.*').replaceAll('_', '.')
    const pattern = new RegExp(`^${escaped}`, 'i')
    const reply = driver.list(queue, { ...rest, ...(prefix === '' ? {} : everything) })
    return { ...reply, rows: reply.rows.filter(({ key }) => pattern.test(key)) }
  }),
  listMutant(
    'list-filters-late',
    'a page is filtered after it was cut',
    (driver, queue, request) => {
      const { state, ...rest } = request
      const reply = driver.list(queue, rest)
      const rows = reply.rows.filter((row) => state === undefined || row.state === state)
      return rows.length > 0 ? { ...reply, rows } : { now: reply.now, rows }
    },
  ),
  listMutant(
    'list-cursor-before-other-states',
    'a full page of a state has a cursor if keys of other states come after it',
    (driver, queue, request) => {
      const { state: _, ...rest } = request
      const reply = driver.list(queue, request)
      const last = reply.rows.at(-1)
      if (last === undefined || reply.rows.length < request.limit) return reply
      const after = driver.list(queue, { ...rest, cursor: last.key }).rows
      return after.length > 0 ? { ...reply, cursor: last.key } : reply
    },
  ),
  listMutant(
    'list-shows-claimed',
    'a held key shows the run that its holder has claimed',
    (driver, queue, request) => {
      const reply = driver.list(queue, request)
      const rows = reply.rows.map((row) =>
        row.token !== 0 && row.dueAt === Infinity ? { ...row, dueAt: row.claimedDueAt } : row,
      )
      return { ...reply, rows }
    },
  ),
  listMutant('list-hides-idle', 'idle keys are not listed', (driver, queue, request) => {
    const reply = driver.list(queue, request)
    return { ...reply, rows: reply.rows.filter(({ state }) => state !== 'idle') }
  }),
  listMutant('list-moves', 'listing keys moves them', (driver, queue, request) => {
    if (request.keys === undefined) void driver.operate.runNow(queue, ['delayed'])
    return driver.list(queue, request)
  }),
  listMutant(
    'list-holder-lost',
    'a list does not show the holder of a key',
    (driver, queue, request) => {
      const reply = driver.list(queue, request)
      return { ...reply, rows: reply.rows.map((row) => ({ ...row, holder: undefined })) }
    },
  ),
  listMutant(
    'list-parked-holder-lost',
    'a held key that is parked is listed without its holder',
    (driver, queue, request) => {
      const { rows, ...rest } = driver.list(queue, request)
      const shown = rows.map((row) => (row.parked ? { ...row, holder: undefined } : row))
      return { ...rest, rows: shown }
    },
  ),
  verbMutant(
    'queues-case-blind',
    'the names of queues are compared case-insensitively',
    (driver) => ({
      add: (queue, ...rest) => driver.add(queue.toLowerCase(), ...rest),
      claim: (queue, ...rest) => driver.claim(queue.toLowerCase(), ...rest),
    }),
  ),
  verbMutant('queues-cut', 'the names of queues are truncated', (driver) => ({
    add: (queue, ...rest) => driver.add(queue.slice(0, 63), ...rest),
    claim: (queue, ...rest) => driver.claim(queue.slice(0, 63), ...rest),
  })),
  verbMutant('queues-all', 'queues without keys are listed', (_, store) => ({
    queues: () => [...store.queues.keys()],
  })),
  verbMutant('queues-of-gone-workers', 'a queue is listed while it had a worker', (_, store) => ({
    queues() {
      const isInUse = ({ keys, paused, workers }: ModelQueue): boolean =>
        keys.size > 0 || paused || workers.size > 0
      return [...store.queues].filter(([, queue]) => isInUse(queue)).map(([name]) => name)
    },
  })),
  verbMutant('queues-of-keys', 'a queue that only has a worker is not listed', (driver) => ({
    queues: () => driver.queues().filter((name) => driver.list(name, { limit: 1 }).rows.length > 0),
  })),
  verbMutant('queues-forget-leaks', 'forget and cancel affect every queue', (driver, store) => ({
    forget(queue, keys) {
      const names = [queue, ...store.queues.keys()].filter(
        (name, i, all) => all.indexOf(name) === i,
      )
      return names.map((name) => driver.forget(name, keys))[0]!
    },
  })),
  verbMutant('list-first-holder', 'a key is listed with its first holder', (driver) => {
    const first = new Map<string, string>()
    return {
      claim(queue, request) {
        const reply = driver.claim(queue, request)
        for (const { key } of reply.claims) {
          if (!first.has(key)) first.set(key, request.holder)
        }
        return reply
      },
      list(queue, request) {
        const { rows, ...rest } = driver.list(queue, request)
        const named = rows.map((row) => ({ ...row, holder: row.holder && first.get(row.key) }))
        return { ...rest, rows: named }
      },
    }
  }),
]
