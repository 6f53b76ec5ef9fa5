import assert from 'node:assert/strict'
import { type Chance, ModelDriver, ModelStore, type Subject } from '@sluice/conformance'
import {
  type Claim,
  type ClaimReply,
  type Driver,
  type KeyRow,
  keyStateWords,
  type Lease,
  type ListReply,
  type ListRequest,
  never,
  noToken,
} from '@sluice/core'
import type { FakeClock } from '@sluice/core/testing'

/** A key that both sides handed out in the same claim. */
export interface PairedClaim {
  readonly queue: string
  readonly key: string
  readonly modelToken: number
  readonly realToken: number
  readonly claimId: string
}

/** After how long the failures of idle keys expire in every call. */
export const failuresExpireMs = 1_000

/** More than there are keys: a sweep and a report of leases with this limit are complete. */
export const everything = 100_000

/** Stores add doubles up in different orders. */
const toleranceMs = 0.001

const listPage = 1_000

/** Whether two answers say the same, instants up to rounding. */
export function assertAlike(real: object, model: object, what: string): void {
  for (const [name, expected] of Object.entries(model)) {
    const actual: unknown = (real as Readonly<Record<string, unknown>>)[name]
    if (Object.is(actual, expected)) continue
    if (typeof actual === 'number' && typeof expected === 'number') {
      if (Math.abs(actual - expected) <= toleranceMs) continue
    }
    assert.deepEqual(real, model, what)
    assert.fail(`${what}: ${name} is ${String(actual)}, not ${String(expected)}`)
  }
}

/** What both sides have to agree about in a row: neither tokens nor sequence numbers. */
function essence(row: KeyRow): Readonly<Record<string, unknown>> {
  const isHeld = row.token !== noToken
  const isPending = row.dueAt !== never
  return {
    key: row.key,
    state: row.state,
    item: isHeld || isPending ? row.item : undefined,
    failures: row.failures,
    crashes: row.crashes,
    parked: row.parked,
    failedAt: row.failedAt,
    holder: row.holder,
    leaseUntil: row.leaseUntil,
    dueAt: row.dueAt,
    laterAt: row.laterAt,
    ...(isPending && { why: row.why, priority: row.priority, askedAt: row.askedAt }),
    ...(row.laterAt !== never && { laterWhy: row.laterWhy }),
    ...(isHeld && { claimedDueAt: row.claimedDueAt, claimedPriority: row.claimedPriority }),
    ...(isPending && !isHeld && { readyAt: row.readyAt }),
  }
}

/** The drivers under test on one store, and the model beside them, on one clock. */
export class BothSides {
  readonly clock: FakeClock
  readonly store: ModelStore = new ModelStore()
  readonly model: ModelDriver = new ModelDriver({ store: this.store })
  readonly subject: Subject
  readonly claims: PairedClaim[] = []
  readonly queues: readonly string[]
  readonly bucket: string
  /** How often what a run is about has happened. */
  readonly seen: Map<string, number> = new Map()
  readonly #drivers: Driver[]
  #lastToken = 0

  private constructor(subject: Subject, drivers: Driver[], name: string, queues: number) {
    this.subject = subject
    this.clock = subject.clock
    this.#drivers = drivers
    this.queues = Array.from({ length: queues }, (_, index) => `${name}/${index}`)
    this.bucket = `${name}/bucket`
    this.model.open({ clock: this.clock })
  }

  /** Opens several drivers on the store of a subject, as far as it has peers. */
  static async open(subject: Subject, name: string, queues: number): Promise<BothSides> {
    const drivers = [subject.driver]
    if (subject.peer !== undefined) drivers.push(await subject.peer(), await subject.peer())
    for (const driver of drivers) await driver.open({ clock: subject.clock })
    return new BothSides(subject, drivers, name, queues)
  }

  async close(): Promise<void> {
    for (const driver of this.#drivers) await driver.close()
    await this.subject.dispose?.()
  }

  saw(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1)
  }

  /** One of the drivers on the store. */
  driver(chance: Chance): Driver {
    return chance.pick(this.#drivers)
  }

  /** Whether a claim still holds its key in the model. */
  isHeld({ queue, key, modelToken }: PairedClaim): boolean {
    return this.store.queue(queue).keys.get(key)?.state.token === modelToken
  }

  /** Closes the first driver and opens another one in its place, as a new process would. */
  async restart(): Promise<void> {
    const { restart } = this.subject
    if (restart === undefined) return
    await this.#drivers[0]?.close()
    const driver = await restart()
    await driver.open({ clock: this.clock })
    this.#drivers[0] = driver
    this.saw('a restart')
  }

  /** Holds for a claim in which both sides handed out the same keys in the same order. */
  pair(queue: string, claimId: string, real: ClaimReply, model: ClaimReply): void {
    assert.deepEqual(
      real.claims.map(({ key }) => key),
      model.claims.map(({ key }) => key),
      'the keys that are handed out, in order',
    )
    for (const [index, expected] of model.claims.entries()) {
      const { token: realToken, ...claim } = real.claims[index] as Claim
      const { token: modelToken, ...expectedClaim } = expected
      assertAlike(claim, expectedClaim, `the claim of ${claim.key}`)
      assert.ok(realToken > this.#lastToken, `tokens rise: ${realToken} after ${this.#lastToken}`)
      this.#lastToken = realToken
      this.claims.push({ queue, key: claim.key, modelToken, realToken, claimId })
    }
    if (model.claims.length > 500) this.saw('a claim of more than 500 keys')
    const priorities = new Set(model.claims.map(({ priority }) => priority))
    if (priorities.size > 16) this.saw('a claim over more than 16 priorities')
    if (model.claims.some(({ crashes }) => crashes > 0)) this.saw('a key that has crashed')
    this.pairEnds(queue, real.leaseEnds)
  }

  /** Holds for reports of leases that have expired; a claim may look at some of the leases only. */
  pairEnds(queue: string, real: readonly Lease[], isComplete = false): void {
    const request = { holder: 'clock', limit: everything, failuresExpireMs: Infinity }
    const { leaseEnds } = this.model.tick(queue, request)
    const expected = new Set(leaseEnds.map(({ key, token }) => `${key} ${token}`))
    for (const { key, token } of real) {
      const claim = this.claims.find((each) => each.queue === queue && each.realToken === token)
      assert.ok(
        claim?.key === key && expected.has(`${key} ${claim.modelToken}`),
        `the lease of ${key} is reported, and has not expired`,
      )
    }
    if (isComplete) assert.equal(real.length, expected.size, 'every expired lease is reported')
    if (expected.size > 0) this.saw('an expired lease')
  }

  /** Every row of a queue, read page by page. */
  async rows(driver: Driver, queue: string, request: Omit<ListRequest, 'limit'> = {}) {
    const rows: KeyRow[] = []
    let page: ListReply | undefined
    do {
      const cursor: { cursor?: string } = page?.cursor === undefined ? {} : { cursor: page.cursor }
      page = await driver.list(queue, { ...request, ...cursor, limit: listPage })
      assert.ok(page.rows.length <= listPage)
      rows.push(...page.rows)
    } while (page.cursor !== undefined)
    return { now: page.now, rows }
  }

  /** Holds if all that can be seen of a queue is the same on both sides. */
  async compare(queue: string, chance: Chance): Promise<void> {
    const driver = this.driver(chance)
    const { now, rows: real } = await this.rows(driver, queue)
    const fresh = ({ state, failedAt }: KeyRow): boolean =>
      state !== 'idle' || failedAt + failuresExpireMs > now
    const model = (await this.rows(this.model, queue)).rows.filter(fresh)
    assert.deepEqual(
      real.filter(fresh).map(({ key }) => key),
      model.map(({ key }) => key),
      `the keys of ${queue}`,
    )
    for (const [index, row] of real.filter(fresh).entries()) {
      assertAlike(essence(row), essence(model[index] as KeyRow), `the row of ${row.key}`)
    }
    if (model.length > 300) this.saw('a queue of more than 300 keys')
    await this.#compareSums(driver, queue, real)
  }

  async #compareSums(driver: Driver, queue: string, rows: readonly KeyRow[]): Promise<void> {
    const counts = await driver.counts(queue, { cap: everything })
    for (const word of keyStateWords) {
      const recount = rows.filter(({ state }) => state === word).length
      assert.equal(counts[word], recount, `the count of ${word}`)
    }
    const request = { holder: 'clock', limit: everything, failuresExpireMs: Infinity }
    const real = await driver.tick(queue, request)
    const model = this.model.tick(queue, request)
    this.pairEnds(queue, real.leaseEnds, true)
    // A time that has come may be told in any way that says so.
    const next = (at: number): number => Math.max(at, real.now)
    const isNear = Math.abs(next(real.nextAt) - next(model.nextAt)) <= toleranceMs
    assert.ok(next(real.nextAt) === next(model.nextAt) || isNear, 'when to look again')
  }
}
