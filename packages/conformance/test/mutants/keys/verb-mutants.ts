import type { Claim, ClaimReply, Finish } from '@sluice/core'
import type { ModelStore } from '../../../src/model/model-store.ts'
import { type Mutant, mutant, verbMutant } from '../mutant.ts'

function withClaims(reply: ClaimReply, change: (claim: Claim) => Claim): ClaimReply {
  return { ...reply, claims: reply.claims.map(change) }
}

/** Loses the item of each key that is finished in one way. */
function itemLost(store: ModelStore, queue: string, finishes: readonly Finish[], as: string): void {
  for (const finish of finishes) {
    if (finish.as === as) store.key(queue, finish.key).item = undefined
  }
}

/** Adding, claiming and finishing, with one fault each. */
export const verbMutants: readonly Mutant[] = [
  sharedStore(),
  verbMutant('contract-older', 'the driver is written for another contract', () => ({
    contractVersion: 0,
  })),
  verbMutant('declares-too-much', 'the driver declares a verb that it does not have', () => ({
    workers: undefined as never,
  })),
  verbMutant('claim-whole-ms', 'a claim reports times in whole milliseconds', (driver) => ({
    claim(queue, request) {
      const reply = driver.claim(queue, request)
      return { ...reply, now: Math.trunc(reply.now) }
    },
  })),
  verbMutant('reply-due-now', 'an add reports that every key is due now', (driver) => ({
    add: (queue, asks, options) =>
      driver.add(queue, asks, options).map((reply, index) => {
        return { ...reply, dueAt: reply.dueAt - Math.max(0, asks[index]?.delayMs ?? 0) }
      }),
  })),
  verbMutant('add-whole-ms', 'an add reports times in whole milliseconds', (driver) => ({
    add: (queue, asks, options) =>
      driver.add(queue, asks, options).map((reply) => {
        return { ...reply, dueAt: Math.trunc(reply.dueAt) }
      }),
  })),
  verbMutant(
    'add-after-done-dropped',
    'an add right after the run of a key is dropped',
    (driver) => {
      const finished = new Map<string, number>()
      const soon = (): number => driver.list('', { limit: 1 }).now
      return {
        finish(queue, finishes, options) {
          const replies = driver.finish(queue, finishes, options)
          for (const [index, { key }] of finishes.entries()) {
            if (replies[index]?.outcome === 'idle') finished.set(key, soon())
          }
          return replies
        },
        add: (queue, asks, options) =>
          asks.flatMap((ask) => {
            const isDropped = finished.get(ask.key) === soon() && !ask.failed
            if (!isDropped) return driver.add(queue, [ask], options)
            return [{ outcome: 'unchanged' as const, dueAt: soon(), failures: 0 }]
          }),
      }
    },
  ),
  verbMutant('max-pending-batch', 'maxPending is not counted along a batch', (driver) => ({
    add(queue, asks, { maxPending = Infinity, ...options }) {
      const { ready, delayed, backoff, dirty } = driver.counts(queue, { cap: 1_000 })
      const isFull = ready + delayed + backoff + dirty >= maxPending
      return driver.add(queue, asks, { ...options, maxPending: isFull ? maxPending : undefined })
    },
  })),
  verbMutant('max-pending-ready', 'only ready keys count for maxPending', (driver) => ({
    add(queue, asks, { maxPending = Infinity, ...options }) {
      const isFull = driver.counts(queue, { cap: 1_000 }).ready >= maxPending
      return driver.add(queue, asks, { ...options, maxPending: isFull ? maxPending : undefined })
    },
  })),
  verbMutant(
    'max-pending-everything',
    'with maxPending reached, every add is rejected',
    (driver) => ({
      add(queue, asks, options) {
        const { maxPending = Infinity } = options
        const { ready } = driver.counts(queue, { cap: 1_000 })
        if (ready < maxPending) return driver.add(queue, asks, options)
        return asks.map(() => ({ outcome: 'full' as const, dueAt: Infinity, failures: 0 }))
      },
    }),
  ),
  verbMutant('item-rewritten', 'items are parsed and serialized again', (driver) => ({
    add: (queue, asks, options) =>
      driver.add(
        queue,
        asks.map((ask) => ({ ...ask, item: ask.item && JSON.stringify(JSON.parse(ask.item)) })),
        options,
      ),
  })),
  verbMutant('item-never-none', 'a key without an item comes back with null', (driver) => ({
    claim: (queue, request) =>
      withClaims(driver.claim(queue, request), (claim) => ({
        ...claim,
        item: claim.item ?? 'null',
      })),
  })),
  verbMutant(
    'item-long-shifted',
    'a large claim gives each key the item of the next',
    (driver) => ({
      claim(queue, request) {
        const reply = driver.claim(queue, request)
        const items = reply.claims.map(({ item }) => item)
        if (items.join('').length <= 2 ** 17) return reply
        let at = 0
        return withClaims(reply, (claim) => {
          at += 1
          return { ...claim, item: items[at % items.length] }
        })
      },
    }),
  ),
  verbMutant('item-first-wins', 'the first item of a key stays', (driver, store) => ({
    add: (queue, asks, options) =>
      driver.add(
        queue,
        asks.map((ask) => ({ ...ask, item: store.key(queue, ask.key).item ?? ask.item })),
        options,
      ),
  })),
  verbMutant('item-coalesced', 'an add without an item keeps the old one', (driver, store) => ({
    add: (queue, asks, options) =>
      driver.add(
        queue,
        asks.map((ask) => ({ ...ask, item: ask.item ?? store.key(queue, ask.key).item })),
        options,
      ),
  })),
  verbMutant('item-lost-on-retry', 'a retry loses the item', (driver, store) => ({
    finish(queue, finishes, options) {
      itemLost(store, queue, finishes, 'retry')
      return driver.finish(queue, finishes, options)
    },
  })),
  verbMutant('item-lost-on-release', 'a release loses the item', (driver, store) => ({
    finish(queue, finishes, options) {
      itemLost(store, queue, finishes, 'release')
      return driver.finish(queue, finishes, options)
    },
  })),
  verbMutant('item-lost-on-expire', 'the end of a lease loses the item', (driver, store) => ({
    expire(queue, leases, options) {
      for (const { key } of leases) store.key(queue, key).item = undefined
      return driver.expire(queue, leases, options)
    },
  })),
  verbMutant(
    'batch-leaks',
    'a key of a batch without an item gets that of its neighbour',
    (driver) => ({
      add(queue, asks, options) {
        const items = asks.map(({ item }) => item)
        return driver.add(
          queue,
          asks.map((ask, index) => ({ ...ask, item: ask.item ?? items[index - 1] })),
          options,
        )
      },
    }),
  ),
  verbMutant('key-trimmed', 'white space around a key is dropped', (driver) => ({
    add: (queue, asks, options) =>
      driver.add(
        queue,
        asks.map((ask) => ({ ...ask, key: ask.key.trim() })),
        options,
      ),
  })),
  verbMutant('key-normalised', 'keys are normalized', (driver) => ({
    add: (queue, asks, options) =>
      driver.add(
        queue,
        asks.map((ask) => ({ ...ask, key: ask.key.normalize('NFC') })),
        options,
      ),
  })),
  verbMutant('batch-sorted', 'a batch is written in the order of its keys', (driver) => ({
    add(queue, asks, options) {
      const sorted = [...asks].sort((a, b) => (a.key < b.key ? -1 : 1))
      const replies = driver.add(queue, sorted, options)
      return asks.map((ask) => replies[sorted.indexOf(ask)]!)
    },
  })),
  verbMutant('batch-answers-sorted', 'the answers come in the order of the keys', (driver) => ({
    add(queue, asks, options) {
      const replies = driver.add(queue, asks, options)
      const order = asks.map((_, i) => i).sort((a, b) => (asks[a]!.key < asks[b]!.key ? -1 : 1))
      return order.map((index) => replies[index]!)
    },
  })),
  verbMutant('batch-finish-sorted', 'a batch is finished in the order of its keys', (driver) => ({
    finish(queue, finishes, options) {
      const sorted = [...finishes].sort((a, b) => (a.key < b.key ? -1 : 1))
      const replies = driver.finish(queue, sorted, options)
      return finishes.map((finish) => replies[sorted.indexOf(finish)]!)
    },
  })),
  verbMutant('batch-all-or-nothing', 'one stale token rejects the whole batch', (driver) => ({
    finish(queue, finishes, options) {
      const { rows } = driver.list(queue, { keys: finishes.map(({ key }) => key), limit: 1_000 })
      const isStale = ({ key, token }: Finish): boolean =>
        rows.find((row) => row.key === key)?.token !== token
      if (finishes.length === 1 || !finishes.some(isStale)) {
        return driver.finish(queue, finishes, options)
      }
      return finishes.map(() => ({ outcome: 'lost' as const, dueAt: Infinity, failures: 0 }))
    },
  })),
  verbMutant('batch-renew-all', 'a renewed batch has one answer for all', (driver) => ({
    renew(queue, leases, leaseMs) {
      const replies = driver.renew(queue, leases, leaseMs)
      return replies.map(() => replies[0]!)
    },
  })),
  verbMutant('batch-large-cut', 'a batch is truncated at five hundred keys', (driver) => ({
    claim: (queue, request) =>
      driver.claim(queue, { ...request, limit: Math.min(request.limit, 500) }),
  })),
  verbMutant('claim-overshoots', 'a claim of several keys takes one more', (driver) => ({
    claim: (queue, request) =>
      driver.claim(queue, { ...request, limit: request.limit + (request.limit === 2 ? 1 : 0) }),
  })),
  verbMutant('claim-short', 'a claim returns one key less than there are', (driver) => ({
    claim: (queue, request) =>
      driver.claim(queue, { ...request, limit: Math.min(request.limit, 2) }),
  })),
  verbMutant(
    'claim-page-hides',
    'a page of keys that are not ready hides the ready keys behind it',
    (driver) => ({
      claim(queue, request) {
        const isCrowded = driver.list(queue, { limit: 40 }).rows.length === 40
        const isHidden = isCrowded && request.limit === 5
        return isHidden ? { claims: [], leaseEnds: [], now: 0 } : driver.claim(queue, request)
      },
    }),
  ),
  verbMutant('claim-priority-zero', 'a claim reports priority 0', (driver) => ({
    claim: (queue, request) =>
      withClaims(driver.claim(queue, request), (claim) => ({ ...claim, priority: 0 })),
  })),
  verbMutant('claim-due-by-ignored', 'a claim ignores dueBy', (driver) => ({
    claim: (queue, request) => driver.claim(queue, { ...request, dueBy: undefined }),
  })),
  verbMutant(
    'claim-ready-at-due',
    'a claim reports when its key was due, not since when it was ready',
    (driver, store) => ({
      claim: (queue, request) =>
        withClaims(driver.claim(queue, request), (claim) => ({
          ...claim,
          readyAt: store.key(queue, claim.key).state.claimedDueAt,
        })),
    }),
  ),
  verbMutant('claim-lease-whole-ms', 'a lease is rounded to whole milliseconds', (driver) => ({
    claim: (queue, request) =>
      withClaims(driver.claim(queue, request), (claim) => ({
        ...claim,
        leaseUntil: Math.trunc(claim.leaseUntil),
      })),
  })),
  verbMutant('claim-tokens-reversed', 'tokens fall along a batch', (driver) => ({
    claim(queue, request) {
      const reply = driver.claim(queue, request)
      return { ...reply, claims: [...reply.claims].sort((a, b) => b.token - a.token) }
    },
  })),
  verbMutant('done-frees-all', 'done of one key releases the others', (driver, store) => ({
    finish(queue, finishes, options) {
      const replies = driver.finish(queue, finishes, options)
      if (finishes.length > 1 || replies[0]?.outcome === 'lost') return replies
      for (const { state } of store.queue(queue).keys.values()) state.token = 0
      return replies
    },
  })),
  verbMutant('done-unknown-idle', 'done of a key without a row is accepted', (driver, store) => ({
    finish(queue, finishes, options) {
      const there = finishes.map(({ key }) => store.queue(queue).keys.has(key))
      return driver
        .finish(queue, finishes, options)
        .map((reply, index) => (there[index] ? reply : { ...reply, outcome: 'idle' as const }))
    },
  })),
  verbMutant('finish-repeatable', 'a token that was accepted once is accepted again', (driver) => {
    const accepted = new Set<number>()
    return {
      finish(queue, finishes, options) {
        const replies = driver.finish(queue, finishes, options)
        return replies.map((reply, index) => {
          const { token } = finishes[index]!
          if (reply.outcome !== 'lost') accepted.add(token)
          else if (accepted.has(token)) return { ...reply, outcome: 'idle' as const }
          return reply
        })
      },
    }
  }),
  verbMutant('finish-own-only', 'only the process that claimed a key can finish it', (driver) => {
    const own = new Set<number>()
    return {
      claim(queue, request) {
        const reply = driver.claim(queue, request)
        for (const { token } of reply.claims) own.add(token)
        return reply
      },
      finish: (queue, finishes, options) =>
        driver.finish(
          queue,
          finishes.map((finish) => ({
            ...finish,
            token: own.has(finish.token) ? finish.token : -1,
          })),
          options,
        ),
    }
  }),
  verbMutant('error-first-stays', 'the first error of a key stays', (driver, store) => ({
    finish: (queue, finishes, options) =>
      driver.finish(
        queue,
        finishes.map((finish) => {
          const { lastError } = store.key(queue, finish.key)
          return finish.as === 'retry' ? { ...finish, error: lastError ?? finish.error } : finish
        }),
        options,
      ),
  })),
  verbMutant('error-dropped-without-one', 'a run without an error drops it', (driver, store) => ({
    finish(queue, finishes, options) {
      const replies = driver.finish(queue, finishes, options)
      for (const finish of finishes) {
        if (finish.as === 'retry' || finish.as === 'park') {
          const entry = store.key(queue, finish.key)
          entry.lastError = finish.error
        }
      }
      return replies
    },
  })),
  verbMutant('error-not-kept', 'no error is stored', (driver, store) => ({
    finish(queue, finishes, options) {
      const replies = driver.finish(queue, finishes, options)
      for (const { key } of finishes) store.key(queue, key).lastError = undefined
      store.sweep(
        queue,
        ({ token, dueAt, failures, parked }) =>
          token === 0 && dueAt === Infinity && failures === 0 && !parked,
      )
      return replies
    },
  })),
]

/** Stores that are open at the same time are one store. */
function sharedStore(): Mutant {
  const open: ModelStore[] = []
  const id = 'stores-not-apart'
  const { create } = mutant(id, '', () => {
    const shared = open.at(-1)
    return {
      ...(shared !== undefined && { store: shared }),
      alter: (driver, store) => ({
        open(options) {
          open.push(store)
          driver.open(options)
        },
        close() {
          open.splice(open.indexOf(store), 1)
        },
      }),
    }
  })
  return { id, title: 'two stores that are open at the same time are one', create }
}
