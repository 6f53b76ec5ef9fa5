/**
 * Producers and workers that do what a queue above the driver does when calls fail: repeat adds,
 * adopt claims, repeat finishes. Everything that was acknowledged is written down; an outside
 * witness, a table with a unique key, is told who works on what, and refuses a second one.
 */
import { type Driver, type Lease, SluiceError } from '@sluice/core'
import type { Pool } from 'pg'
import { askOptions as options } from './asks.ts'

/** How much work there is, and how hard it is made. */
export interface WorkloadOptions {
  readonly driver: Driver
  /** A pool for the witness, which nobody disturbs. */
  readonly witness: Pool
  readonly queue: string
  /** Distinguishes this process. */
  readonly name: string
  readonly producers: number
  readonly workers: number
  /** How many keys each producer has, and how many adds it makes of them. */
  readonly keys: number
  readonly adds: number
  readonly leaseMs: number
  /** A number in [0, 1). */
  readonly random: () => number
  /** No more adds from then on. */
  readonly isOver?: () => boolean
}

/** What came of it. */
export interface WorkloadReport {
  /** Which add of a key was acknowledged last, and which was handed out last. */
  readonly acked: Record<string, number>
  readonly handed: Record<string, number>
  readonly overlaps: string[]
  /** How often calls failed, by code. */
  readonly errors: Record<string, number>
  claims: number
  adopted: number
  expired: number
  repeatedFinishes: number
  renewedLate: number
}

const batch = 100

/** How long a worker that finds nothing waits once nothing more is added, in milliseconds: until leases expire. */
const endingMs = 25

/**
 * Codes of calls that fail on a healthy server, which are repeated. A server process that a busy machine
 * holds up is taken for one whose connection is lost.
 */
export const mayFail: ReadonlySet<string> = new Set(['ERR_STORE_BUSY', 'ERR_UNKNOWN_OUTCOME'])

/** Makes the table of the witness. */
export async function prepareWitness(witness: Pool): Promise<void> {
  await witness.query(
    'create unlogged table if not exists witness (key text primary key, until timestamptz not null)',
  )
}

/** Runs until everything that was added is done with. */
export async function runWorkload(given: WorkloadOptions): Promise<WorkloadReport> {
  const { driver, witness, queue, name, random, leaseMs } = given
  const report: WorkloadReport = {
    acked: {},
    handed: {},
    overlaps: [],
    errors: {},
    claims: 0,
    adopted: 0,
    expired: 0,
    repeatedFinishes: 0,
    renewedLate: 0,
  }
  let producing = given.producers

  function note(error: unknown): string {
    const code = SluiceError.is(error) ? error.code : String(error)
    report.errors[code] = (report.errors[code] ?? 0) + 1
    return code
  }

  /** Does it until it is acknowledged; says how often that took. */
  async function until<T>(call: () => Promise<T>): Promise<{ value: T; unknown: boolean }> {
    let unknown = false
    for (;;) {
      try {
        return { value: await call(), unknown }
      } catch (error) {
        const code = note(error)
        if (code === 'ERR_UNKNOWN_OUTCOME') unknown = true
        else if (!SluiceError.is(error) || !error.retryable) throw error
        await breath()
      }
    }
  }

  async function produce(id: number): Promise<void> {
    for (let added = 0, gen = 1; added < given.adds && given.isOver?.() !== true; gen += 1) {
      const from = Math.floor(random() * given.keys)
      const count = Math.min(batch, given.keys, given.adds - added)
      const asks = Array.from({ length: count }, (_, i) => ({
        key: `${name}/${id}/${(from + i) % given.keys}`,
        item: String(gen),
        priority: random() < 0.1 ? 1 : 0,
        delayMs: random() < 0.2 ? 5 : 0,
      }))
      const { value } = await until(async () => await driver.add(queue, asks, options))
      for (const [at, { outcome }] of value.entries()) {
        if (outcome !== 'failed') report.acked[asks[at]!.key] = gen
      }
      added += count
    }
    producing -= 1
  }

  async function work(id: number): Promise<void> {
    const holder = `${name}/${id}`
    for (let turn = 0; ; turn += 1) {
      const startedAt = performance.now()
      const claimId = `${holder}/${turn}`
      const request = { limit: 1 + Math.floor(random() * batch), holder, claimId, leaseMs }
      let claims: readonly { key: string; token: number; item: string | undefined }[] = []
      try {
        const reply = await driver.claim(queue, request)
        claims = reply.claims
        await expire(reply.leaseEnds)
      } catch (error) {
        if (note(error) === 'ERR_UNKNOWN_OUTCOME') {
          const { value } = await until(async () => await driver.adopt!(queue, claimId))
          claims = value
          report.adopted += claims.length
        }
      }
      if (claims.length === 0) {
        if (producing === 0 && (await isDone())) return
        await breath(producing === 0 ? endingMs : undefined)
        continue
      }
      report.claims += claims.length
      const keys = claims.map(({ key }) => key)
      // A worker that is not back within its lease has lost the key, also for the witness.
      const leftMs = leaseMs - (performance.now() - startedAt)
      const seen = await testify(
        `insert into witness select unnest($1::text[]), clock_timestamp() + $2 * interval '1 ms'
        on conflict (key) do update set until = excluded.until
        where witness.until <= clock_timestamp() returning key`,
        [keys, leftMs],
      )
      if (
        seen !== undefined &&
        seen.rowCount !== keys.length &&
        performance.now() - startedAt < leaseMs / 2
      ) {
        const mine = new Set(seen.rows.map(({ key }) => key))
        report.overlaps.push(...keys.filter((key) => !mine.has(key)))
      }
      for (const { key, item } of claims) {
        report.handed[key] = Math.max(report.handed[key] ?? 0, Number(item))
      }
      await testify('delete from witness where key = any($1::text[])', [keys])
      // Now and then a worker disappears with what it holds.
      if (random() < 0.01) continue
      await finish(claims)
    }
  }

  /** The witness may be away for a while, with the server. */
  async function testify(text: string, values: readonly unknown[]) {
    return await witness.query(text, [...values]).catch(() => undefined)
  }

  async function finish(leases: readonly Lease[]): Promise<void> {
    const finishes = leases.map(({ key, token }) => {
      const chance = random()
      if (chance < 0.05) return { as: 'retry', key, token, delayMs: 1 } as const
      if (chance < 0.08) return { as: 'release', key, token } as const
      return { as: 'done', key, token, forget: true } as const
    })
    const { value, unknown } = await until(
      async () => await driver.finish(queue, finishes, options),
    )
    if (unknown) report.repeatedFinishes += 1
    const busy = value.flatMap((reply, at) => (reply.outcome === 'failed' ? [leases[at]!] : []))
    if (busy.length > 0) {
      note(new SluiceError('ERR_STORE_BUSY', 'one key'))
      await finish(busy)
    }
  }

  async function expire(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return
    const some = leases.slice(0, 500)
    const rules = { dedupe: 'client-go', maxCrashes: 1_000_000 } as const
    const { value } = await until(async () => await driver.expire(queue, some, rules))
    report.expired += value.filter((outcome) => outcome === 'expired').length
  }

  async function isDone(): Promise<boolean> {
    const { value } = await until(async () => await driver.counts(queue, { cap: 1 }))
    const { ready, delayed, backoff, processing, dirty } = value
    return ready + delayed + backoff + processing + dirty === 0
  }

  const everybody = [
    ...Array.from({ length: given.producers }, (_, id) => produce(id)),
    ...Array.from({ length: given.workers }, (_, id) => work(id)),
  ]
  await Promise.all(everybody)
  return report
}

/** Acknowledged adds that nobody was handed. */
export function lostOf(reports: readonly WorkloadReport[]): string[] {
  const handed: Record<string, number> = {}
  for (const report of reports) {
    for (const [key, gen] of Object.entries(report.handed)) {
      handed[key] = Math.max(handed[key] ?? 0, gen)
    }
  }
  return reports.flatMap(({ acked }) =>
    Object.entries(acked)
      .filter(([key, gen]) => (handed[key] ?? 0) < gen)
      .map(([key, gen]) => `${key}: add ${gen} was acknowledged, ${handed[key]} was handed out`),
  )
}

/** Chance that can be had again. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Lets others go on for a moment. */
export async function breath(ms = 2): Promise<void> {
  await new Promise((resolve) => {
    // real time: a real server needs it, and nobody else does.
    setTimeout(resolve, ms)
  })
}
