import assert from 'node:assert/strict'
import {
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  type Driver,
  type KeyRow,
  keyStateWords,
  type Lease,
  never,
  noToken,
} from '@sluice/core'
import type { Scene } from '../scene/scene.ts'
import { ModelDriver } from './model-driver.ts'
import { ModelStore } from './model-store.ts'

/** A key that was claimed from the driver and from the model. */
export interface PairedClaim {
  readonly queue: string
  readonly key: string
  readonly modelToken: number
  readonly realToken: number
}

/** When failures of idle keys expire, in every command. */
export const failuresExpireMs = 1_000

/** At least so many held keys are looked at by a claim, to find expired leases. */
const looksMin = 64

/** Instants are doubles in every store, but stores may add them in different orders. */
const toleranceMs = 0.001

/** A driver under test may answer with something else than a number, such as its digits. */
function areNear(a: unknown, b: unknown): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return false
  return a === b || Math.abs(a - b) <= toleranceMs
}

/** Asserts that two answers are equal, with instants equal except for rounding. */
export function assertAlike(real: object, model: object, what: string): void {
  const isAlike = Object.entries(model).every(([name, expected]) => {
    const actual: unknown = (real as Readonly<Record<string, unknown>>)[name]
    return Object.is(actual, expected) || areNear(actual, expected)
  })
  if (!isAlike) assert.deepEqual(real, model, what)
}

/** The part of a row in which driver and model have to agree: neither tokens nor `seq`. */
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
    ...(isHeld && { claimedTrace: row.claimedTrace }),
    ...(row.laterAt !== never && { laterWhy: row.laterWhy }),
    ...(isPending && !isHeld && { readyAt: row.readyAt }),
  }
}

/**
 * Whether two rows have the same essence. Rows are compared after every step of a history, so none is
 * copied for it; only what this finds different is compared by `essence`, which says what differs.
 */
function isSameRow(real: KeyRow, model: KeyRow): boolean {
  const isHeld = model.token !== noToken
  const isPending = model.dueAt !== never
  return (
    isHeld === (real.token !== noToken) &&
    isPending === (real.dueAt !== never) &&
    real.key === model.key &&
    real.state === model.state &&
    real.failures === model.failures &&
    real.crashes === model.crashes &&
    real.parked === model.parked &&
    real.holder === model.holder &&
    areNear(real.failedAt, model.failedAt) &&
    areNear(real.leaseUntil, model.leaseUntil) &&
    areNear(real.dueAt, model.dueAt) &&
    areNear(real.laterAt, model.laterAt) &&
    (!(isHeld || isPending) || real.item === model.item) &&
    (!isHeld || real.claimedTrace === model.claimedTrace) &&
    (model.laterAt === never || real.laterWhy === model.laterWhy) &&
    (!isPending || isSameRun(real, model, isHeld))
  )
}

/** Whether two pending rows are to run in the same way. */
function isSameRun(real: KeyRow, model: KeyRow, isHeld: boolean): boolean {
  return (
    real.why === model.why &&
    real.priority === model.priority &&
    areNear(real.askedAt, model.askedAt) &&
    real.trace === model.trace &&
    (isHeld || areNear(real.readyAt, model.readyAt))
  )
}

/** One history, run on the driver under test and on the model in parallel. */
export class ModelRun {
  readonly queues: readonly string[]
  /** Every claim that was not finished, and some that were. */
  readonly claims: PairedClaim[] = []
  readonly #rowsMax: number
  readonly #sharedBucket: string
  readonly #realTokens = new Map<string, number>()
  #lastToken = 0
  readonly #scenes: Scene[]
  readonly #model: ModelDriver

  /** `rowsMax`: how many keys a queue can have. */
  constructor(scenes: readonly Scene[], name: string, rowsMax = 100) {
    this.#rowsMax = rowsMax
    this.#scenes = [...scenes]
    this.queues = [`${name}/a`, `${name}/b`]
    this.#sharedBucket = `${name}/bucket`
    this.#model = new ModelDriver({ store: new ModelStore() })
    this.#model.open({ clock: this.clock })
  }

  get clock(): Scene['clock'] {
    return this.#first.clock
  }

  get model(): ModelDriver {
    return this.#model
  }

  get #first(): Scene {
    return this.#scenes[0] as Scene
  }

  /** The current scenes, for the next history. */
  get scenes(): readonly Scene[] {
    return this.#scenes
  }

  /** A bucket that a queue may use: of this history, if queues share buckets. */
  bucketOf(queue: string): string {
    return this.real(0).capabilities.sharedBuckets ? this.#sharedBucket : `queue:${queue}`
  }

  /** One of the drivers on the store. */
  real(via: number): Driver {
    return (this.#scenes[via % this.#scenes.length] as Scene).driver
  }

  async step(ms: number): Promise<void> {
    await this.#first.step(ms)
  }

  /** Closes the first driver and opens that of a later process. */
  async restart(): Promise<void> {
    this.#scenes[0] = await this.#first.restart()
  }

  /** Claims on both sides, and compares the replies. */
  async claim(queue: string, via: number, request: ClaimRequest): Promise<void> {
    const driver = this.real(via)
    const { batchBytes = never } = driver
    const real = await driver.claim(queue, request)
    const bytes = real.claims.reduce((sum, { item = '' }) => sum + Buffer.byteLength(item), 0)
    // A claim that has reached the bytes of a batch ends early; the model ends with it.
    const limit = bytes >= batchBytes ? real.claims.length : request.limit
    this.pair(queue, real, this.model.claim(queue, { ...request, limit }))
  }

  /** Asserts that both sides handed out the same keys in the same order, and keeps their tokens. */
  pair(queue: string, real: ClaimReply, model: ClaimReply): void {
    assert.deepEqual(
      real.claims.map(({ key }) => key),
      model.claims.map(({ key }) => key),
      'the keys that are handed out, in order',
    )
    for (const [index, theirs] of model.claims.entries()) {
      const ours = real.claims[index] as Claim
      const { token: realToken, ...said } = ours
      const { token: modelToken, ...expected } = theirs
      assertAlike(said, expected, `the claim of ${ours.key}`)
      assert.ok(realToken > this.#lastToken, 'tokens rise')
      this.#lastToken = realToken
      this.#realTokens.set(`${queue} ${modelToken}`, realToken)
      this.claims.push({ queue, key: ours.key, modelToken, realToken })
    }
    // A claim may look at a part of what is held, and each side may report different ones first.
    const { processing, dirty } = this.model.counts(queue, { cap: this.#rowsMax })
    if (processing + dirty <= looksMin) this.pairEnds(queue, real.leaseEnds, model.leaseEnds)
  }

  /** Asserts that both sides report the same expired leases. */
  pairEnds(queue: string, real: readonly Lease[], model: readonly Lease[]): void {
    const ours = real.map(({ key, token }) => `${key} ${token}`).sort()
    const theirs = model.map(({ key, token }) => `${key} ${this.#realToken(queue, token)}`).sort()
    assert.deepEqual(ours, theirs, 'the leases that are over')
  }

  #realToken(queue: string, modelToken: number): number | undefined {
    return this.#realTokens.get(`${queue} ${modelToken}`)
  }

  /** Asserts that everything visible from outside is equal on both sides. */
  async compare(): Promise<void> {
    for (const queue of this.queues) {
      const real = await this.real(0).list(queue, { limit: this.#rowsMax })
      const model = this.#model.list(queue, { limit: this.#rowsMax })
      assert.deepEqual(
        real.rows.filter(isFresh(real.now)).map(({ key }) => key),
        model.rows.filter(isFresh(model.now)).map(({ key }) => key),
        `the keys of ${queue}`,
      )
      const rows = new Map(model.rows.map((row) => [row.key, row]))
      for (const row of real.rows.filter(isFresh(real.now))) {
        const expected = rows.get(row.key) as KeyRow
        if (isSameRow(row, expected)) continue
        assertAlike(essence(row), essence(expected), `the row of ${row.key}`)
      }
      await this.#compareSums(queue, real.rows)
    }
  }

  async #compareSums(queue: string, rows: readonly KeyRow[]): Promise<void> {
    const counts = await this.real(0).counts(queue, { cap: 10 * this.#rowsMax })
    const { paused } = this.#model.counts(queue, { cap: 1 })
    assert.equal(counts.paused, paused, 'whether the queue is paused')
    const recounts = new Map<KeyRow['state'], number>()
    for (const { state } of rows) recounts.set(state, (recounts.get(state) ?? 0) + 1)
    for (const word of keyStateWords) {
      assert.equal(counts[word], recounts.get(word) ?? 0, `the count of ${word} equals a recount`)
    }
    const request = { holder: 'clock', limit: this.#rowsMax, failuresExpireMs: Infinity }
    const real = await this.real(0).tick(queue, request)
    const model = this.#model.tick(queue, request)
    this.pairEnds(queue, real.leaseEnds, model.leaseEnds)
    // A next time that has passed may be reported as any instant that is not in the future.
    const next = (at: number): number => Math.max(at, real.now)
    assert.ok(areNear(next(real.nextAt), next(model.nextAt)), 'when to look again')
  }
}

/** Whether a row has more than expired failures, which a driver may have swept or not. */
function isFresh(now: number): (row: KeyRow) => boolean {
  return ({ state, failedAt }) => state !== 'idle' || failedAt + failuresExpireMs > now
}
