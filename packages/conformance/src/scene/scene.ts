import assert from 'node:assert/strict'
import {
  type Ask,
  type AskOptions,
  type AskReply,
  type Claim,
  type ClaimReply,
  type Counts,
  type Driver,
  type ExpireOutcome,
  type Finish,
  type FinishReply,
  type KeyRow,
  type KeyStateWord,
  keyStateWords,
  type Lease,
  type ListReply,
  type Operate,
  type RenewReply,
  type TickReply,
} from '@sluice/core'
import type { FakeClock } from '@sluice/core/testing'
import type { CreateSubject, SubjectTransaction } from '../case.ts'
import { CallLog, recorded } from '../wrappers/recorded.ts'
import { CaseResources } from './case-resources.ts'
import {
  type AskParts,
  type ClaimParts,
  claimsMax,
  dayMs,
  type ExpireParts,
  hintMsUsual,
  leaseMsUsual,
  type OptionParts,
  only,
  outcomeOf,
  type RetryParts,
  type SceneContext,
  type SceneOptions,
  succeeded,
} from './scene-parts.ts'

/**
 * One open driver and one queue, with the verbs in the short form that cases use.
 *
 * Every verb calls the driver and nothing is cached between calls, so a case reads as the calls that
 * the driver gets.
 */
export class Scene {
  readonly driver: Driver
  readonly queue: string
  readonly #context: SceneContext
  readonly #holder: string

  private constructor(context: SceneContext, driver: Driver, queue: string, holder: string) {
    this.#context = context
    this.driver = driver
    this.queue = queue
    this.#holder = holder
  }

  /** Begins a case: creates a subject and opens its driver. */
  static async begin(create: CreateSubject, options: SceneOptions = {}): Promise<Scene> {
    const { log = new CallLog(), hintMs = hintMsUsual, chance = {} } = options
    const { leaseMs = leaseMsUsual, resources = new CaseResources(), onHistory } = options
    const subject = options.subject ?? (await create())
    await resources.own(subject)
    const context: SceneContext = {
      create,
      log,
      clock: subject.clock,
      subject,
      resources,
      hintMs,
      chance,
      leaseMs,
      onHistory,
      claimsMade: 0,
    }
    return await Scene.#openOn(context, subject.driver, 'q', 'one', '')
  }

  static async #openOn(
    context: SceneContext,
    bare: Driver,
    queue: string,
    holder: string,
    prefix: string,
  ): Promise<Scene> {
    const driver = recorded(bare, context.log, prefix)
    await context.resources.open(driver, context.clock)
    return new Scene(context, driver, queue, holder)
  }

  /** Closes every driver of the case and removes its stores, also after one of these has failed. */
  async end(): Promise<void> {
    await this.#context.resources.end()
  }

  /** The log of all calls. */
  get log(): CallLog {
    return this.#context.log
  }

  /** The clock of the driver. */
  get clock(): FakeClock {
    return this.#context.clock
  }

  /** The state that the scenes of a case share, such as the subject. */
  get context(): SceneContext {
    return this.#context
  }

  now(): number {
    return this.#context.clock.now()
  }

  async step(ms: number): Promise<void> {
    this.#context.log.write(`step ${ms} ms`)
    await this.#context.clock.step(ms)
  }

  /** Stops logging, for histories that are too long to be read. */
  muteLog(): void {
    this.#context.log.lines.length = 0
    this.#context.log.isOn = false
  }

  /** Called by a search before each of its histories, each of which may take as long as a case. */
  beginHistory(): void {
    this.#context.onHistory?.()
  }

  /** The same driver, another queue. */
  on(queue: string): Scene {
    return new Scene(this.#context, this.driver, queue, this.#holder)
  }

  /** The same driver and queue, for another holder. */
  as(holder: string): Scene {
    return new Scene(this.#context, this.driver, this.queue, holder)
  }

  /** A second driver on the same store, opened. */
  async peer(holder = 'two'): Promise<Scene> {
    const { peer } = this.#context.subject
    assert.ok(peer, 'a subject whose driver declares peers has to give one')
    return await this.openOn(await peer(), holder, `${holder}: `)
  }

  /** Closes the driver and opens the driver of a later process on the same store. */
  async restart(): Promise<Scene> {
    const { restart } = this.#context.subject
    assert.ok(restart, 'a subject whose driver declares durable has to give restart')
    await this.close()
    return await this.openOn(await restart(), this.#holder, 'restarted: ')
  }

  /** Opens a driver on the same store. */
  async openOn(driver: Driver, holder: string, prefix: string): Promise<Scene> {
    return await Scene.#openOn(this.#context, driver, this.queue, holder, prefix)
  }

  /** Another subject with its own store and clock, opened. */
  async otherStore(): Promise<Scene> {
    const { create, log, hintMs, chance, leaseMs, resources } = this.#context
    return await Scene.begin(create, { log, hintMs, chance, leaseMs, resources })
  }

  async close(): Promise<void> {
    await this.driver.close()
    this.#context.resources.release(this.driver)
  }

  async open(): Promise<void> {
    await this.#context.resources.open(this.driver, this.clock)
  }

  /** Begins a transaction of the store. */
  async begin(): Promise<SubjectTransaction> {
    const { begin } = this.#context.subject
    assert.ok(begin, 'a subject whose driver declares transact has to give begin')
    return await begin()
  }

  /** Complete options of add and finish. */
  options(parts: OptionParts = {}): AskOptions {
    return {
      dedupe: parts.dedupe ?? 'client-go',
      failuresExpireMs: parts.failuresExpireMs ?? dayMs,
      maxPending: parts.maxPending,
    }
  }

  /** A complete ask. */
  ask(key: string, parts: AskParts = {}): Ask {
    return { item: undefined, priority: 0, delayMs: 0, ...parts, key }
  }

  async add(key: string, parts: AskParts & OptionParts = {}): Promise<AskReply> {
    const { dedupe: _, failuresExpireMs: __, maxPending: ___, ...ask } = parts
    const asks = [this.ask(key, ask)]
    return succeeded(only(await this.driver.add(this.queue, asks, this.options(parts))))
  }

  async addAfter(
    key: string,
    delayMs: number,
    parts: AskParts & OptionParts = {},
  ): Promise<AskReply> {
    return await this.add(key, { ...parts, delayMs })
  }

  /** One batch. */
  async addAll(
    asks: readonly (string | Ask)[],
    options: OptionParts = {},
  ): Promise<readonly AskReply[]> {
    const whole = asks.map((ask) => (typeof ask === 'string' ? this.ask(ask) : ask))
    const replies = await this.driver.add(this.queue, whole, this.options(options))
    assert.equal(replies.length, asks.length, 'one answer for each ask')
    return replies.map((reply) => succeeded<AskReply>(reply))
  }

  async claim(parts: ClaimParts = {}): Promise<ClaimReply> {
    this.#context.claimsMade += 1
    assert.ok(this.#context.claimsMade <= claimsMax, 'the claims of a case come to an end')
    const reply = await this.driver.claim(this.queue, {
      limit: parts.limit ?? 1,
      holder: parts.holder ?? this.#holder,
      claimId: parts.claimId ?? `claim-${this.#context.claimsMade}`,
      leaseMs: parts.leaseMs ?? this.#context.leaseMs,
      dueBy: parts.dueBy,
    })
    assert.ok(reply.claims.length <= (parts.limit ?? 1), 'no more claims than the limit')
    return reply
  }

  /** Claims one key; asserts that there is one, and that it is `key` if that is given. */
  async claimOne(key?: string, parts: ClaimParts = {}): Promise<Claim> {
    const { claims } = await this.claim(parts)
    assert.equal(claims.length, 1, `a key can be claimed${key === undefined ? '' : `: ${key}`}`)
    const claim = claims[0] as Claim
    if (key !== undefined) assert.equal(claim.key, key)
    return claim
  }

  /** Asserts that no key can be claimed now. */
  async claimNone(parts: ClaimParts = {}): Promise<void> {
    const { claims } = await this.claim({ limit: 10, ...parts })
    assert.deepEqual(
      claims.map((claim) => claim.key),
      [],
      'nothing can be claimed',
    )
  }

  /** Claims every ready key and returns the keys in order. Finishes none. */
  async claimKeys(parts: ClaimParts = {}): Promise<string[]> {
    const keys: string[] = []
    for (;;) {
      const { claims } = await this.claim({ limit: 100, ...parts })
      if (claims.length === 0) return keys
      keys.push(...claims.map((claim) => claim.key))
    }
  }

  async finish(finish: Finish, options: OptionParts = {}): Promise<FinishReply> {
    return only(await this.finishAll([finish], options))
  }

  /** One batch. */
  async finishAll(
    finishes: readonly Finish[],
    options: OptionParts = {},
  ): Promise<readonly FinishReply[]> {
    const replies = await this.driver.finish(this.queue, finishes, this.options(options))
    assert.equal(replies.length, finishes.length, 'one answer for each finish')
    return replies.map((reply) => succeeded<FinishReply>(reply))
  }

  async done({ key, token }: Lease, parts: { forget?: boolean } = {}): Promise<FinishReply> {
    return await this.finish({ as: 'done', key, token, forget: parts.forget ?? false })
  }

  async retry(
    { key, token }: Lease,
    delayMs: number,
    parts: RetryParts & OptionParts = {},
  ): Promise<FinishReply> {
    const { dedupe: _, failuresExpireMs: __, ...rest } = parts
    return await this.finish({ as: 'retry', key, token, ...rest, delayMs }, parts)
  }

  async release({ key, token }: Lease, options: OptionParts = {}): Promise<FinishReply> {
    return await this.finish({ as: 'release', key, token }, options)
  }

  /** Parks as the holder. */
  async parkHeld(
    { key, token }: Lease,
    error?: string,
    options: OptionParts = {},
  ): Promise<FinishReply> {
    return await this.finish({ as: 'park', key, token, error }, options)
  }

  async renew({ key, token }: Lease, leaseMs: number = leaseMsUsual): Promise<RenewReply> {
    return succeeded(only(await this.driver.renew(this.queue, [{ key, token }], leaseMs)))
  }

  async expire({ key, token }: Lease, parts: ExpireParts = {}): Promise<ExpireOutcome> {
    return only(await this.expireAll([{ key, token }], parts))
  }

  /** One batch. */
  async expireAll(
    leases: readonly Lease[],
    parts: ExpireParts = {},
  ): Promise<readonly ExpireOutcome[]> {
    const outcomes = await this.driver.expire(this.queue, leases, {
      dedupe: 'client-go',
      maxCrashes: 1_000,
      ...parts,
    })
    assert.equal(outcomes.length, leases.length, 'one answer for each lease')
    return outcomes.map((outcome) => outcomeOf(outcome))
  }

  async forget(key: string): Promise<string> {
    return outcomeOf(only(await this.driver.forget(this.queue, [key])))
  }

  async cancel(key: string): Promise<string> {
    return outcomeOf(only(await this.driver.cancel(this.queue, [key])))
  }

  async tick(
    parts: Partial<Parameters<Driver['tick']>[1]> & { holder?: string } = {},
  ): Promise<TickReply> {
    return await this.driver.tick(this.queue, {
      holder: this.#holder,
      limit: 100,
      failuresExpireMs: dayMs,
      ...parts,
    })
  }

  async counts(cap = 10_000): Promise<Counts> {
    return await this.driver.counts(this.queue, { cap })
  }

  /** The counts that are not zero. */
  async states(): Promise<Partial<Record<KeyStateWord, number>>> {
    const counts = await this.counts()
    return Object.fromEntries(
      keyStateWords.filter((word) => counts[word] !== 0).map((word) => [word, counts[word]]),
    )
  }

  async list(request: Partial<Parameters<Driver['list']>[1]> = {}): Promise<ListReply> {
    return await this.driver.list(this.queue, { limit: 100, ...request })
  }

  /** The row of a key; asserts that there is one. */
  async row(key: string): Promise<KeyRow> {
    const row = await this.rowIfAny(key)
    assert.ok(row, `a row of ${key} is stored`)
    return row
  }

  async rowIfAny(key: string): Promise<KeyRow | undefined> {
    const { rows } = await this.list({ keys: [key] })
    assert.ok(rows.length <= 1, `one row for ${key}, got ${rows.length}`)
    return rows[0]
  }

  /** The state of one key; `gone` if there is no row. */
  async state(key: string): Promise<KeyStateWord | 'gone'> {
    return (await this.rowIfAny(key))?.state ?? 'gone'
  }

  get operate(): Operate {
    const { operate } = this.driver
    assert.ok(operate, 'a driver that declares operate has it')
    return operate
  }
}
