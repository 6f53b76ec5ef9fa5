import { type Ask, type Finish, type Lease, never, noToken } from '@sluice/core'
import type { ModelDriver } from '../../src/model/model-driver.ts'
import { ModelStore } from '../../src/model/model-store.ts'
import { type Mutant, mutant, ruleMutant, verbMutant } from './mutant.ts'

/** The size of a chunk, in a driver that works in chunks. */
const chunk = 512

/** A store whose token counter can be set back. */
class ShortTokens extends ModelStore {
  back = 0

  override nextToken(): number {
    return super.nextToken() - this.back
  }
}

/** The rows with an expired lease among the first rows of a queue. */
function overAmong(store: ModelStore, queue: string, count: number, now: number): Lease[] {
  return [...store.queue(queue).keys.values()]
    .slice(0, count)
    .filter(({ state }) => state.token !== noToken && state.leaseUntil <= now)
    .map(({ key, state }) => ({ key, token: state.token }))
    .slice(0, 100)
}

/** The answers of a verb for the keys beyond a chunk: the same as before, without any work. */
function beyond<T, R>(
  list: readonly T[],
  act: (part: readonly T[]) => readonly R[],
  answer: R,
): R[] {
  return [...act(list.slice(0, chunk)), ...list.slice(chunk).map(() => answer)]
}

const unchanged = { outcome: 'unchanged', dueAt: 0, failures: 0 } as const

/** Correct for few and small keys; one fault each beyond that. */
export const sizeMutants: readonly Mutant[] = [
  verbMutant('size-add-chunk', 'of a large batch only the beginning is added', (driver) => ({
    add: (queue, asks, options) =>
      beyond<Ask, ReturnType<ModelDriver['add']>[number]>(
        asks,
        (part) => driver.add(queue, part, options),
        unchanged,
      ),
  })),
  verbMutant('size-max-pending-chunk', 'maxPending is checked once for each chunk', (driver) => ({
    add(queue, asks, options) {
      const { maxPending: _, ...rest } = options
      const first = driver.add(queue, asks.slice(0, chunk), options)
      if (asks.length <= chunk) return first
      return [...first, ...driver.add(queue, asks.slice(chunk), rest)]
    },
  })),
  mutant('size-tokens-again', 'a claim of more than a chunk stores too small a last token', () => {
    const store = new ShortTokens()
    return {
      store,
      alter: (driver) => ({
        claim(queue, request) {
          const reply = driver.claim(queue, request)
          store.back += Math.max(0, reply.claims.length - chunk)
          return reply
        },
      }),
    }
  }),
  verbMutant('size-claim-shuffled', 'a large claim is in order chunk by chunk only', (driver) => ({
    claim(queue, request) {
      const reply = driver.claim(queue, request)
      const { claims } = reply
      if (claims.length <= chunk) return reply
      const tokens = claims.map(({ token }) => token)
      const turned = [...claims.slice(chunk), ...claims.slice(0, chunk)]
      return { ...reply, claims: turned.map((claim, i) => ({ ...claim, token: tokens[i] ?? 0 })) }
    },
  })),
  verbMutant(
    'size-adopt-chunk',
    'of a large claim only the beginning is found again',
    (driver) => ({
      adopt: (queue, claimId) => driver.adopt(queue, claimId).slice(0, chunk),
    }),
  ),
  verbMutant('size-finish-chunk', 'of a large batch only the beginning is finished', (driver) => ({
    finish: (queue, finishes, options) =>
      beyond<Finish, ReturnType<ModelDriver['finish']>[number]>(
        finishes,
        (part) => driver.finish(queue, part, options),
        { outcome: 'idle', dueAt: never, failures: 0 },
      ),
  })),
  verbMutant('size-finish-answers', 'answers beyond a chunk are those of the chunk', (driver) => ({
    finish(queue, finishes, options) {
      const replies = driver.finish(queue, finishes, options)
      return replies.map((reply, i) => replies[i % chunk] ?? reply)
    },
  })),
  verbMutant(
    'size-renew-some',
    'of a batch only 200 leases are renewed, and all are reported',
    (driver) => ({
      renew(queue, leases, leaseMs) {
        const replies = driver.renew(queue, leases.slice(0, 200), leaseMs)
        return leases.map((_, i) => replies[i] ?? { outcome: 'renewed', leaseUntil: never })
      },
    }),
  ),
  verbMutant(
    'size-expire-chunk',
    'of a large batch of leases only the beginning ends',
    (driver) => ({
      expire: (queue, leases, options) =>
        beyond<Lease, ReturnType<ModelDriver['expire']>[number]>(
          leases,
          (part) => driver.expire(queue, part, options),
          'expired',
        ),
    }),
  ),
  verbMutant(
    'size-ends-first',
    'claims look for expired leases among the first keys',
    (driver, store) => ({
      claim(queue, request) {
        const reply = driver.claim(queue, request)
        return { ...reply, leaseEnds: overAmong(store, queue, 1_000, reply.now) }
      },
    }),
  ),
  verbMutant(
    'size-ticks-first',
    'ticks look for expired leases among the first keys',
    (driver, store) => ({
      tick(queue, request) {
        const reply = driver.tick(queue, request)
        const leaseEnds = overAmong(store, queue, 1_000, reply.now).slice(0, request.limit)
        return { ...reply, leaseEnds }
      },
    }),
  ),
  verbMutant('size-cancel-chunk', 'of a large batch only the beginning is cancelled', (driver) => ({
    cancel: (queue, keys) => beyond(keys, (part) => driver.cancel(queue, part), 'cancelled'),
  })),
  verbMutant('size-forget-chunk', 'of a large batch only the beginning is forgotten', (driver) => ({
    forget: (queue, keys) => beyond(keys, (part) => driver.forget(queue, part), 'forgotten'),
  })),
  verbMutant('size-sweep-unbounded', 'a sweep of many keys ignores its limit', (driver) => ({
    tick: (queue, request) =>
      driver.tick(queue, { ...request, limit: request.limit > 100 ? Infinity : request.limit }),
  })),
  verbMutant('size-page-short', 'the last key of a long page is on no page', (driver) => ({
    list(queue, request) {
      const reply = driver.list(queue, request)
      if (reply.rows.length <= 300 || reply.cursor === undefined) return reply
      return { ...reply, rows: reply.rows.slice(0, -1) }
    },
  })),
  verbMutant('size-list-keys', 'of many keys to list only the first are looked up', (driver) => ({
    list: (queue, request) =>
      driver.list(queue, {
        ...request,
        ...(request.keys && { keys: request.keys.slice(0, chunk) }),
      }),
  })),
  verbMutant('size-list-sparse', 'a page ends after looking at a hundred keys', (driver) => ({
    list(queue, request) {
      if (request.state === undefined) return driver.list(queue, request)
      const { state, ...rest } = request
      const page = driver.list(queue, { ...rest, limit: Math.max(100, request.limit) })
      const rows = page.rows.filter((row) => row.state === state)
      return rows.length <= request.limit ? { now: page.now, rows } : driver.list(queue, request)
    },
  })),
  verbMutant('size-counts-table', 'counting ends after three thousand keys', (driver, store) => ({
    counts(queue, options) {
      const counts = driver.counts(queue, options)
      const stored = store.queue(queue).keys.size
      if (stored <= 3_000) return counts
      return { ...counts, delayed: Math.max(0, counts.delayed - (stored - 3_000)) }
    },
  })),
  verbMutant(
    'size-next-first',
    'the next due time is looked for among the first keys',
    (driver, store) => ({
      tick(queue, request) {
        const reply = driver.tick(queue, request)
        const { keys } = store.queue(queue)
        if (keys.size <= chunk) return reply
        const dues = [...keys.values()].slice(0, chunk).map(({ state }) => state.dueAt)
        return { ...reply, nextAt: Math.min(...dues) }
      },
    }),
  ),
  mutant('size-table-wraps', 'one key is lost each time the table has used all its rows', () => {
    let made = 0
    return {
      alter: (driver, store) => ({
        add(queue, asks, options) {
          const before = store.queue(queue).keys.size
          const replies = driver.add(queue, asks, options)
          const after = store.queue(queue).keys.size
          const isLost = Math.floor((made + after - before) / 4_096) > Math.floor(made / 4_096)
          made += after - before
          const last = asks.at(-1)?.key
          if (isLost && last !== undefined) driver.cancel(queue, [last])
          return replies
        },
      }),
    }
  }),
  ruleMutant('size-priority-clipped', 'priorities beyond five hundred are treated as equal', () => {
    const clipped = (priority: number): number => Math.max(-500, Math.min(500, priority))
    return {
      comesBefore: (a, b) =>
        clipped(b.priority) - clipped(a.priority) || a.readyAt - b.readyAt || a.seq - b.seq,
    }
  }),
  verbMutant(
    'size-eight-priorities',
    'a claim looks at the eight highest priorities',
    (driver, store) => ({
      claim(queue, request) {
        const all = [...store.queue(queue).keys.values()].filter(
          ({ state }) => state.dueAt !== never,
        )
        const priorities = [...new Set(all.map(({ state }) => state.priority))].sort(
          (a, b) => b - a,
        )
        const lowest = priorities[7] ?? -Infinity
        const hidden = all.filter(({ state }) => state.priority < lowest)
        for (const { state } of hidden) state.parked = !state.parked
        const reply = driver.claim(queue, request)
        for (const { state } of hidden) state.parked = !state.parked
        return reply
      },
    }),
  ),
  verbMutant(
    'size-next-priorities',
    'a tick looks at the sixteen highest priorities',
    (driver, store) => ({
      tick(queue, request) {
        const reply = driver.tick(queue, request)
        const waiting = [...store.queue(queue).keys.values()].filter(
          ({ state }) => state.token === noToken && state.dueAt !== never,
        )
        const priorities = [...new Set(waiting.map(({ state }) => state.priority))]
        if (priorities.length <= 16) return reply
        const lowest = priorities.sort((a, b) => b - a)[15] as number
        const seen = waiting.filter(({ state }) => state.priority >= lowest)
        return { ...reply, nextAt: Math.min(...seen.map(({ state }) => state.dueAt)) }
      },
    }),
  ),
  mutant('size-keys-short', 'the end of a long key is ignored', () => {
    class ShortKeys extends ModelStore {
      readonly #firsts = new Map<string, string>()

      override key(queue: string, key: string) {
        if (key.length <= 400) return super.key(queue, key)
        const name = `${queue} ${key.slice(0, 400)}`
        const first = this.#firsts.get(name) ?? key
        this.#firsts.set(name, first)
        return super.key(queue, first)
      }
    }
    return { store: new ShortKeys() }
  }),
  verbMutant('size-items-cut', 'items are truncated at 200,000 characters', (driver) => ({
    add: (queue, asks, options) =>
      driver.add(
        queue,
        asks.map((ask) => ({ ...ask, item: ask.item?.slice(0, 200_000) })),
        options,
      ),
  })),
  verbMutant('size-items-stay', 'a long item is not replaced by a short one', (driver, store) => ({
    add(queue, asks, options) {
      const items = asks.map(({ key }) => store.queue(queue).keys.get(key)?.item)
      const whole = asks.map((ask, i) => {
        const before = items[i]
        const isLong = before !== undefined && before.length > 100_000
        return isLong && before.length > (ask.item?.length ?? 0) ? { ...ask, item: before } : ask
      })
      return driver.add(queue, whole, options)
    },
  })),
  verbMutant(
    'size-errors-some',
    'errors beyond the hundredth of a batch are dropped',
    (driver) => ({
      finish: (queue, finishes, options) =>
        driver.finish(
          queue,
          finishes.map((each, i) =>
            'error' in each && i >= 100 ? { ...each, error: undefined } : each,
          ),
          options,
        ),
    }),
  ),
  verbMutant('size-queues-some', 'no more than 256 queues are listed', (driver) => ({
    queues: () => driver.queues().slice(0, 256),
  })),
  verbMutant('size-workers-some', 'no more than 256 workers are listed', (driver) => ({
    workers: (queue, withinMs) => driver.workers(queue, withinMs).slice(0, 256),
  })),
  verbMutant(
    'size-buckets-some',
    'buckets beyond the 32nd of a batch are not charged',
    (driver) => ({
      add(queue, asks, options) {
        const names = new Set<string>()
        const whole = asks.map((ask) => {
          if (ask.plan?.kind !== 'bucket') return ask
          names.add(ask.plan.name)
          return names.size > 32 ? { ...ask, plan: undefined, delayMs: 0 } : ask
        })
        const replies = driver.add(queue, whole, options)
        return replies.map((reply, i) => (asks[i]?.plan ? { plannedMs: 0, ...reply } : reply))
      },
    }),
  ),
  ...(['park', 'runNow', 'remove'] as const).map((verb) =>
    verbMutant(`size-${verb}-chunk`, `${verb} stops after a chunk`, (driver) => ({
      operate: {
        ...driver.operate,
        async [verb](queue: string, keys: readonly string[]) {
          const some = await driver.operate[verb](queue, keys.slice(0, chunk))
          return keys.map((_, i) => some[i] ?? 'changed')
        },
      },
    })),
  ),
  verbMutant('size-unpark-chunk', 'unpark stops after a chunk', (driver) => ({
    operate: {
      ...driver.operate,
      async unpark(queue, keys, options) {
        const some = await driver.operate.unpark(queue, keys.slice(0, chunk), options)
        return keys.map((_, i) => some[i] ?? 'changed')
      },
    },
  })),
  verbMutant('size-purge-thousand', 'a purge stops at a thousand keys', (driver, store) => ({
    operate: {
      ...driver.operate,
      async purge(queue) {
        const keys = [...store.queue(queue).keys.keys()].slice(0, 1_000)
        const outcomes = await driver.operate.remove(queue, keys)
        return outcomes.filter((outcome) => outcome === 'changed').length
      },
    },
  })),
  verbMutant('size-import-chunk', 'of a large import only the beginning is imported', (driver) => ({
    transfer: {
      ...driver.transfer,
      async importRows(queue, rows) {
        const some = await driver.transfer.importRows(queue, rows.slice(0, chunk))
        return rows.map((_, i) => some[i] ?? 'imported')
      },
    },
  })),
  verbMutant('size-drop-chunk', 'of many rows to drop only the first are dropped', (driver) => ({
    transfer: {
      ...driver.transfer,
      async dropRows(queue, rows) {
        const some = await driver.transfer.dropRows(queue, rows.slice(0, chunk))
        return rows.map((_, i) => some[i] ?? 'dropped')
      },
    },
  })),
]
