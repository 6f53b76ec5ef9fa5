import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { ModelDriver } from '@sluice/conformance'
import {
  type Ask,
  type Claim,
  type Driver,
  type Finish,
  type KeyRow,
  type LimiterPlan,
  never,
  noToken,
} from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import * as fc from 'fast-check'
import { test } from 'vitest'
import { prepareStatements } from '../src/connection/statements.ts'
import { sqliteDriver } from '../src/index.ts'
import type { SqliteDatabase } from '../src/library/database.ts'

// What SQL decides, next to what the transitions decide: the same history is played to
// the driver and to the model, and everything they answer and store has to be the same. Unlike the
// histories of the conformance suite, these let the clock go back too.

const requireHere = createRequire(import.meta.url)
const runs = Number(process.env['SLUICE_PROPERTY_RUNS'] ?? 150)

type Step =
  | { readonly kind: 'add'; readonly asks: readonly Ask[]; readonly maxPending: number | undefined }
  | { readonly kind: 'claim'; readonly limit: number; readonly dueByMs: number | undefined }
  | {
      readonly kind: 'finish'
      readonly as: Finish['as']
      readonly nth: number
      readonly ms: number
    }
  | { readonly kind: 'renew'; readonly nth: number; readonly ms: number }
  | { readonly kind: 'expire' }
  | { readonly kind: 'clock'; readonly ms: number }
  | { readonly kind: 'forget' | 'cancel' | 'park' | 'unpark' | 'runNow' | 'remove'; key: string }
  | { readonly kind: 'pause' | 'resume' | 'purge' | 'tick' }

const keys = ['a', 'b', 'c', 'd', 'e', 'f'] as const
const key = fc.constantFrom(...keys)
const ms = fc.constantFrom(-5, 0, 1, 3, 10, 40)
const plan: LimiterPlan = {
  kind: 'maxOf',
  of: [
    { kind: 'exponential', baseMs: 2, maxMs: 50 },
    { kind: 'bucket', name: 'bucket', perSecond: 100, burst: 2 },
  ],
}

const ask: fc.Arbitrary<Ask> = fc.record({
  key,
  item: fc.constantFrom(undefined, undefined, '"x"', '{"y":1}'),
  priority: fc.constantFrom(0, 0, 0, 5, -3),
  delayMs: ms,
  maxWaitMs: fc.constantFrom(undefined, undefined, undefined, 20),
  failed: fc.constantFrom(undefined, undefined, true),
  plan: fc.constantFrom(undefined, undefined, undefined, plan),
})

const asks = fc.oneof(
  { weight: 2, arbitrary: fc.uniqueArray(ask, { minLength: 1, selector: (each) => each.key }) },
  // What one statement inserts: several keys that all ask for the same.
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.uniqueArray(key, { minLength: 2 }), ms, fc.boolean())
      .map(([several, delayMs, hasItems]) =>
        several.map(
          (each): Ask => ({
            key: each,
            item: hasItems ? `"${each}"` : undefined,
            priority: 0,
            delayMs,
          }),
        ),
      ),
  },
)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      asks,
      maxPending: fc.constantFrom(undefined, undefined, 3),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      limit: fc.integer({ min: 1, max: 4 }),
      dueByMs: fc.constantFrom(undefined, undefined, -3, 0),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('finish' as const),
      as: fc.constantFrom<Finish['as'][]>('done', 'done', 'retry', 'release', 'park'),
      nth: fc.nat(5),
      ms,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('renew' as const), nth: fc.nat(5), ms }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      ms: fc.constantFrom(1, 3, 10, 40, -1, -8, -30),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'forget' as const,
        'cancel' as const,
        'park' as const,
        'unpark' as const,
        'runNow' as const,
        'remove' as const,
      ),
      key,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('expire' as const, 'tick' as const, 'expire' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('pause' as const, 'resume' as const, 'purge' as const),
    }),
  },
)

const failuresExpireMs = 60
const leaseMs = 20

/** One of the two that are compared, with what it has handed out. */
class Side {
  readonly driver: Driver
  readonly claims: Claim[] = []

  constructor(driver: Driver) {
    this.driver = driver
  }

  play(each: Step, index: number, dedupe: 'client-go' | 'earliest', now: number): unknown {
    const { driver } = this
    const options = { dedupe, failuresExpireMs }
    switch (each.kind) {
      case 'add':
        return driver.add('q', each.asks, { ...options, maxPending: each.maxPending })
      case 'claim': {
        const { limit, dueByMs } = each
        const dueBy = dueByMs === undefined ? undefined : now + dueByMs
        const request = { limit, holder: 'h', claimId: `claim ${index}`, leaseMs, dueBy }
        const reply = driver.claim('q', request) as { readonly claims: readonly Claim[] }
        this.claims.push(...reply.claims)
        return reply
      }
      case 'finish':
        return driver.finish('q', [this.#finish(each.as, each.nth, each.ms)], options)
      case 'renew':
        return driver.renew('q', [this.#claim(each.nth)], Math.max(1, each.ms))
      case 'expire': {
        const { leaseEnds } = driver.tick('q', tickRequest) as unknown as {
          leaseEnds: readonly Claim[]
        }
        if (leaseEnds.length === 0) return []
        const inOrder = [...leaseEnds].sort((a, b) => a.token - b.token)
        return driver.expire('q', inOrder, { dedupe, plan, maxCrashes: 3 })
      }
      case 'tick':
        return driver.tick('q', tickRequest)
      case 'forget':
      case 'cancel':
        return driver[each.kind]('q', [each.key])
      case 'unpark':
        return driver.operate?.unpark('q', [each.key], { forget: index % 2 === 0 })
      case 'park':
      case 'runNow':
      case 'remove':
        return driver.operate?.[each.kind]('q', [each.key])
      case 'pause':
      case 'resume':
      case 'purge':
        return driver.operate?.[each.kind]('q')
      case 'clock':
        return undefined
      default:
        return each satisfies never
    }
  }

  #claim(nth: number): { readonly key: string; readonly token: number } {
    return this.claims.at(-1 - nth) ?? { key: 'a', token: 999_999 }
  }

  #finish(as: Finish['as'], nth: number, delayMs: number): Finish {
    const { key: name, token } = this.#claim(nth)
    const common = { key: name, token }
    if (as === 'done') return { as, ...common, forget: delayMs > 1 }
    if (as === 'release') return { as, ...common }
    if (as === 'park') return { as, ...common, error: delayMs > 1 ? 'broken' : undefined }
    return { as, ...common, delayMs, plan: delayMs === 40 ? plan : undefined, error: 'broken' }
  }
}

const tickRequest = { holder: 'h', limit: 100, failuresExpireMs }

/** An answer or a row without what the two sides number differently. */
function comparable(value: unknown, wall: number): unknown {
  // The store's time, where an answer says it: it is ahead of a clock that was set back.
  const { now = wall } = (value ?? {}) as { readonly now?: number }
  return JSON.parse(
    JSON.stringify(value ?? null, (name, member: unknown) => {
      const { outcome } = (member ?? {}) as { readonly outcome?: unknown }
      if (outcome === 'lost') return outcome
      // The order of several expired leases is not defined.
      if (name === 'leaseEnds') {
        return (member as readonly { readonly key: string }[]).map((lease) => lease.key).sort()
      }
      if (name === 'token') return typeof member === 'number' ? member > noToken : member
      // An instant in the past may be reported as any instant in the past.
      if (name === 'nextAt') return Math.max(now, (member as number | null) ?? 1e300)
      if (member === never) return 'never'
      return member
    }),
  )
}

/** What is meaningful of a stored key. */
function essence(row: KeyRow): object {
  const isHeld = row.token !== noToken
  const isOwed = row.dueAt !== never
  return {
    key: row.key,
    state: row.state,
    item: row.item,
    holder: row.holder,
    lastError: row.lastError,
    failures: row.failures,
    crashes: row.crashes,
    failedAt: row.failedAt,
    parked: row.parked,
    leaseUntil: row.leaseUntil,
    dueAt: row.dueAt,
    laterAt: row.laterAt,
    ...(isOwed && { why: row.why, priority: row.priority, askedAt: row.askedAt }),
    ...(isOwed && !isHeld && { readyAt: row.readyAt }),
    ...(row.laterAt !== never && { laterWhy: row.laterWhy }),
    ...(isHeld && {
      claimed: [row.claimedDueAt, row.claimedReadyAt, row.claimedPriority, row.claimedAskedAt],
      claimedLaterAt: row.claimedLaterAt,
      claimedWhy: row.claimedWhy,
    }),
  }
}

for (const library of ['better-sqlite3', 'node:sqlite'] as const) {
  test(`any history leaves the same behind in SQLite as in the model, ${library}`, () => {
    const Database = (
      library === 'better-sqlite3' ? requireHere(library) : requireHere(library).DatabaseSync
    ) as new (
      path: string,
    ) => SqliteDatabase
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60, size: 'max' }),
        fc.constantFrom('client-go' as const, 'earliest' as const),
        (steps, dedupe) => {
          const clock = fakeClock()
          const database = new Database(':memory:')
          const real = new Side(sqliteDriver({ database, exclusive: true }))
          const model = new Side(new ModelDriver())
          try {
            void real.driver.open({ clock })
            void model.driver.open({ clock })
            const { examineRows } = prepareStatements(database)
            // Both read the clock before it is set for the first time, as they do after each step.
            for (const { driver } of [real, model]) void driver.list('q', { limit: 1 })
            for (const [index, each] of steps.entries()) {
              if (each.kind === 'clock') clock.setTime(clock.now() + each.ms)
              const now = clock.now()
              const what = `step ${index}: ${JSON.stringify(each)}`
              const ours = comparable(real.play(each, index, dedupe, now), now)
              const theirs = comparable(model.play(each, index, dedupe, now), now)
              assert.deepEqual(ours, theirs, what)
              const rows = (side: Side): object[] =>
                (side.driver.list('q', { limit: 100 }) as { rows: readonly KeyRow[] }).rows.map(
                  essence,
                )
              assert.deepEqual(rows(real), rows(model), `what is stored after ${what}`)
              const counts = (side: Side): unknown => side.driver.counts('q', { cap: 100 })
              assert.deepEqual(counts(real), counts(model), `the counts after ${what}`)
              assert.deepEqual(examineRows.all(), [], `the file after ${what}`)
            }
          } finally {
            void real.driver.close()
            database.close()
          }
        },
      ),
      { numRuns: runs },
    )
  }, 120_000)
}
