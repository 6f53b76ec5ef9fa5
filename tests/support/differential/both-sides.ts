import assert from 'node:assert/strict'
import { type Chance, ModelDriver, ModelStore, type Subject } from '@sluice/conformance'
import {
  type Ask,
  type Claim,
  type ClaimReply,
  type Driver,
  type EpochMs,
  type KeyRow,
  keyStateWords,
  type Lease,
  type ListReply,
  type ListRequest,
  never,
  noToken,
} from '@sluice/core'
import { transitions } from '@sluice/core/driver'
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
    ...(isPending && {
      why: row.why,
      priority: row.priority,
      askedAt: row.askedAt,
      trace: row.trace,
    }),
    ...(row.laterAt !== never && { laterWhy: row.laterWhy }),
    ...(isHeld && {
      claimedDueAt: row.claimedDueAt,
      claimedPriority: row.claimedPriority,
      claimedTrace: row.claimedTrace,
      claimedAskedAt: row.claimedAskedAt,
      claimedWhy: row.claimedWhy,
    }),
    ...(isPending && !isHeld && { readyAt: row.readyAt }),
  }
}

/** The drivers under test on one store, and the model beside them, on one clock. */
export class BothSides {
  readonly clock: FakeClock
  readonly store: ModelStore = new ModelStore()
  readonly model: ModelDriver
  readonly subject: Subject
  readonly claims: PairedClaim[] = []
  readonly queues: readonly string[]
  /** How often what a run is about has happened. */
  readonly seen: Map<string, number> = new Map()
  /** The names of keys that were added when their failures had expired: swept or not, with their errors. */
  readonly #withoutError = new Set<string>()
  readonly #drivers: Driver[]
  readonly #bucket: string
  /** The last token that was handed out, of the store or of each queue. */
  readonly #lastTokens = new Map<string, number>()

  private constructor(subject: Subject, drivers: Driver[], name: string, queues: number) {
    this.subject = subject
    this.clock = subject.clock
    this.#drivers = drivers
    this.queues = Array.from({ length: queues }, (_, index) => `${name}/${index}`)
    this.#bucket = `${name}/bucket`
    const { time } = subject.driver.capabilities
    this.model = new ModelDriver({ store: this.store, time })
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

  /** A bucket that a queue may charge: that of all queues, if the store has such. */
  bucketOf(queue: string): string {
    return this.subject.driver.capabilities.sharedBuckets ? this.#bucket : `queue:${queue}`
  }

  /** The time of the stores. */
  get now(): EpochMs {
    return this.model.list('', { limit: 1 }).now
  }

  /** To be called before keys are added. */
  adding(queue: string, asks: readonly Ask[]): void {
    const { keys } = this.store.queue(queue)
    for (const { key } of asks) {
      const state = keys.get(key)?.state
      if (state === undefined) continue
      const isExpired = transitions.hasStaleFailures(state, this.now, failuresExpireMs)
      if (isExpired) this.#withoutError.add(key)
    }
  }

  /** Whether a claim still holds its key in the model. */
  isHeld({ queue, key, modelToken }: PairedClaim): boolean {
    return this.store.queue(queue).keys.get(key)?.state.token === modelToken
  }

  /** Sets the wall clock, just after every driver and the model have read it, and just before. */
  async setClock(ms: number): Promise<void> {
    await this.#readClock()
    this.clock.setTime(ms)
    await this.#readClock()
    this.saw('a step of the clock')
  }

  async #readClock(): Promise<void> {
    const queue = this.queues[0] as string
    const request = { holder: 'clock', limit: 1, failuresExpireMs: Infinity }
    const { now } = this.model.tick(queue, request)
    for (const driver of this.#drivers) {
      assert.equal((await driver.tick(queue, request)).now, now, 'the time of the store')
      assert.equal(driver.ahead ?? 0, this.model.ahead, 'ahead of the wall clock')
    }
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
    const counter = this.#counterOf(queue)
    for (const [index, expected] of model.claims.entries()) {
      const { token: realToken, ...claim } = real.claims[index] as Claim
      const { token: modelToken, ...expectedClaim } = expected
      assertAlike(claim, expectedClaim, `the claim of ${claim.key}`)
      const last = this.#lastTokens.get(counter) ?? 0
      assert.ok(realToken > last, `tokens rise: ${realToken} after ${last}`)
      this.#lastTokens.set(counter, realToken)
      this.claims.push({ queue, key: claim.key, modelToken, realToken, claimId })
    }
    if (model.claims.length > 500) this.saw('a claim of more than 500 keys')
    const priorities = new Set(model.claims.map(({ priority }) => priority))
    if (priorities.size > 16) this.saw('a claim over more than 16 priorities')
    if (model.claims.some(({ crashes }) => crashes > 0)) this.saw('a key that has crashed')
    assert.equal(real.now, model.now, 'the time of the claim')
    this.pairEnds(queue, real.leaseEnds)
  }

  /** The tokens of the store or of each queue rise. */
  #counterOf(queue: string): string {
    return this.subject.driver.capabilities.tokens === 'store' ? '' : queue
  }

  /** Raises the tokens to `by` above the last one, which need not be any: they never fall. */
  async raiseTokens({ transfer }: Driver, by: number): Promise<void> {
    if (transfer === undefined) return
    const handedOut = this.claims.at(-1)?.realToken ?? 0
    const last = await transfer.lastToken()
    assert.ok(last >= handedOut, `the last token is ${last}, and ${handedOut} was handed out`)
    const floor = last + by
    await transfer.raiseTokens(floor)
    for (const counter of this.queues.map((queue) => this.#counterOf(queue))) {
      this.#lastTokens.set(counter, Math.max(floor, this.#lastTokens.get(counter) ?? 0))
    }
    this.saw('raised tokens')
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
    const { now: modelNow, rows: modelRows } = await this.rows(this.model, queue)
    assert.equal(now, modelNow, 'the time of a list')
    const model = modelRows.filter(fresh)
    assert.deepEqual(
      real.filter(fresh).map(({ key }) => key),
      model.map(({ key }) => key),
      `the keys of ${queue}`,
    )
    for (const [index, row] of real.filter(fresh).entries()) {
      const expected = model[index] as KeyRow
      assertAlike(essence(row), essence(expected), `the row of ${row.key}`)
      if (this.#withoutError.has(row.key)) continue
      assert.equal(row.lastError, expected.lastError, `the error of ${row.key}`)
    }
    if (model.length > 300) this.saw('a queue of more than 300 keys')
    await this.#compareSums(driver, queue, real, chance)
  }

  async #compareSums(
    driver: Driver,
    queue: string,
    rows: readonly KeyRow[],
    chance: Chance,
  ): Promise<void> {
    const counts = await driver.counts(queue, { cap: everything })
    for (const word of keyStateWords) {
      const recount = rows.filter(({ state }) => state === word).length
      assert.equal(counts[word], recount, `the count of ${word}`)
    }
    const { paused, capped, oldestReadyAt, heldUntil } = this.model.counts(queue, {
      cap: everything,
    })
    assertAlike(counts, { paused, capped, oldestReadyAt, heldUntil }, 'the counts')
    const cap = chance.pick([1, 3, 50, 400])
    const few = await driver.counts(queue, { cap })
    for (const word of keyStateWords) {
      if (few.capped) assert.ok(few[word] <= counts[word], `the capped count of ${word}`)
      else assert.equal(few[word], counts[word], `the count of ${word} below its cap`)
    }
    for (const bucket of this.model.buckets()) {
      const found = (await driver.buckets?.())?.find(({ name }) => name === bucket.name)
      if (driver.buckets !== undefined) assertAlike(found as object, bucket, 'the bucket')
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
