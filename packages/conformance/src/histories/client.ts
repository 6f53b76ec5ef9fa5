import {
  type Ask,
  type Awaitable,
  type Driver,
  type Failure,
  type Finish,
  type Lease,
  SluiceError,
} from '@sluice/core'
import type { Chance } from './chance.ts'
import type { Action, History } from './operation.ts'
import type { Sometimes } from './sometimes.ts'
import type { Witness } from './witness.ts'

/** The state that the clients of one history share. */
export interface HistoryContext {
  readonly queue: string
  readonly keys: readonly string[]
  readonly history: History
  readonly sometimes: Sometimes
  readonly witness: Witness
  /** The store's time. */
  now(): number
  /** How many clients believe that they hold a key. */
  readonly holders: Map<string, number>
  /** Leases that a claim reported as expired. */
  readonly ends: Lease[]
}

/** The result of a call: an answer, an unknown outcome, or a rejection without effect. */
type Result<T> = { readonly answer: T } | 'unknown' | 'refused'

/** A key that a client holds. */
interface Hold {
  readonly key: string
  readonly token: number
  /** The end of the lease, as far as the client knows. */
  leaseUntil: number
  /** Whether the handler is running; once it has stopped, the key only has to be finished. */
  isAtWork: boolean
}

/** Parking for crashes would keep keys from being drained. */
const maxCrashes = 1_000_000

const leaseMsUsual = 40
const dedupe = 'client-go'
const options = { dedupe, failuresExpireMs: 1e12 } as const

async function someTurns(chance: Chance): Promise<void> {
  for (let turns = chance.below(6); turns > 0; turns -= 1) await undefined
}

/** A worker and producer in one, which acts at random and records its calls and their answers. */
export class Client {
  readonly name: string
  readonly #driver: Driver
  readonly #context: HistoryContext
  readonly #chance: Chance
  readonly #holds = new Map<string, Hold>()
  /** Tokens that should be stale, to be tried again. */
  #stale: Lease[] = []
  #calls = 0

  constructor(name: string, driver: Driver, context: HistoryContext, chance: Chance) {
    this.name = name
    this.#driver = driver
    this.#context = context
    this.#chance = chance
  }

  /** Makes one random call. */
  async act(): Promise<void> {
    const chance = this.#chance
    const roll = chance.next()
    if (roll < 0.33) await this.#add()
    else if (roll < 0.57) await this.#claim()
    else if (roll < 0.75) await this.#finish()
    // Renewals are sent separately, so that they run concurrently with other calls.
    else if (roll < 0.81) await Promise.all([this.#renew(), this.#finish()])
    else if (roll < 0.84) await this.#renew()
    else if (roll < 0.91) await this.#expire()
    else if (roll < 0.97) await this.#retryStale()
    else await this.#simple(chance.happens(0.5) ? 'forget' : 'cancel')
  }

  /** Stops the handlers of keys whose lease has expired, as far as the client knows. */
  async dropExpired(): Promise<void> {
    for (const hold of [...this.#holds.values()]) {
      if (hold.leaseUntil > this.#context.now()) continue
      await this.#stopWork(hold)
      this.#holds.delete(hold.key)
      this.#stale.push(hold)
    }
  }

  /** Drops all state, as a killed process does. Returns whether it held a key. */
  async kill(): Promise<boolean> {
    const held = [...this.#holds.values()]
    for (const hold of held) await this.#stopWork(hold)
    this.#holds.clear()
    this.#stale = []
    return held.length > 0
  }

  async #stopWork(hold: Hold): Promise<void> {
    const { holders, witness } = this.#context
    if (!hold.isAtWork) return
    hold.isAtWork = false
    holders.set(hold.key, (holders.get(hold.key) ?? 1) - 1)
    await witness.leave(hold.key)
  }

  /** Makes a call, and records an action for each of its keys. */
  async #call<T>(
    keys: readonly string[],
    ask: () => T | Promise<T>,
    actionOf: (index: number, answer: T | undefined) => Action | undefined,
  ): Promise<Result<T>> {
    const { history, now } = this.#context
    const start = history.event()
    await someTurns(this.#chance)
    const result = await attempt(ask)
    await someTurns(this.#chance)
    const end = history.event()
    if (result === 'refused') return result
    const isKnown = result !== 'unknown'
    for (const [index, key] of keys.entries()) {
      const action = actionOf(index, isKnown ? result.answer : undefined)
      if (action === undefined) continue
      const until = isKnown && action.answer !== undefined ? end : Infinity
      history.note({ key, client: this.name, start, end: until, now: now(), action })
    }
    return result
  }

  async #add(): Promise<void> {
    const chance = this.#chance
    const { keys, queue, holders, sometimes } = this.#context
    this.#calls += 1
    const chosen = new Set([chance.pick(keys), ...(chance.happens(0.3) ? [chance.pick(keys)] : [])])
    const asks = [...chosen].map(
      (key): Ask => ({
        key,
        item: `"${this.name}/${this.#calls}/${key}"`,
        priority: 0,
        delayMs: chance.happens(0.2) ? chance.pick([1, 5, 20]) : 0,
        failed: chance.happens(0.1) ? true : undefined,
      }),
    )
    for (const { key } of asks) {
      if ((holders.get(key) ?? 0) > 0) sometimes.observe('a key was added while it was held')
    }
    await this.#call(
      asks.map(({ key }) => key),
      () => this.#driver.add(queue, asks, options),
      (index, replies) => {
        const answer = known(replies?.[index])
        return answer === 'refused'
          ? undefined
          : { verb: 'add', ask: asks[index] as Ask, dedupe, ...(answer && { answer }) }
      },
    )
  }

  async #claim(): Promise<void> {
    const { queue, keys, ends, sometimes } = this.#context
    this.#calls += 1
    const claimId = `${queue}/${this.name}/${this.#calls}`
    const limit = 1 + this.#chance.below(3)
    const request = { limit, holder: this.name, claimId, leaseMs: leaseMsUsual }
    const { history, now } = this.#context
    const start = history.event()
    await someTurns(this.#chance)
    const adopt = this.#driver.adopt?.bind(this.#driver)
    let isAdopted = false
    const result = await attempt(
      () => this.#driver.claim(queue, request),
      adopt &&
        (async () => {
          isAdopted = true
          return { claims: await adopt(queue, claimId), leaseEnds: [], now: now() }
        }),
    )
    if (result === 'refused') return
    const note = (key: string, end: number, action: Action): void => {
      history.note({ key, client: this.name, start, end, now: now(), action })
    }
    if (result === 'unknown') {
      // It may have taken any key.
      for (const key of keys) note(key, Infinity, { verb: 'claim', leaseMs: leaseMsUsual })
      return
    }
    const end = history.event()
    const { claims, leaseEnds } = result.answer
    ends.push(...leaseEnds)
    if (claims.length > 1) sometimes.observe('a batch of several keys was claimed')
    for (const claim of claims) {
      note(claim.key, end, { verb: 'claim', leaseMs: leaseMsUsual, answer: claim, isAdopted })
      if (claim.crashes > 0) sometimes.observe('a lease ended and its key was claimed again')
      await this.#beginWork(claim.key, claim.token, claim.leaseUntil)
    }
  }

  async #beginWork(key: string, token: number, leaseUntil: number): Promise<void> {
    const { holders, witness } = this.#context
    await witness.enter(key, this.name)
    holders.set(key, (holders.get(key) ?? 0) + 1)
    this.#holds.set(key, { key, token, leaseUntil, isAtWork: true })
  }

  async #finish(): Promise<void> {
    const held = [...this.#holds.values()]
    if (held.length === 0) return
    const chosen = held.filter((_, index) => index === 0 || this.#chance.happens(0.5))
    for (const hold of chosen) await this.#stopWork(hold)
    await this.#finishAll(chosen)
  }

  async #retryStale(): Promise<void> {
    const lease = this.#stale.pop()
    if (lease !== undefined) await this.#finishAll([lease])
  }

  async #finishAll(leases: readonly Lease[]): Promise<void> {
    const { queue, sometimes } = this.#context
    const finishes = leases.map((lease) => this.#finishOf(lease))
    await this.#call(
      leases.map(({ key }) => key),
      () => this.#driver.finish(queue, finishes, options),
      (index, replies) => {
        const finish = finishes[index] as Finish
        const answer = known(replies?.[index])
        if (answer === 'refused') return undefined
        if (answer !== undefined) {
          // With an answer the finish is complete; without one the client repeats it.
          if (answer.outcome === 'lost') {
            sometimes.observe('a stale token was answered with lost')
          } else if (this.#chance.happens(0.2)) this.#stale.push(finish)
          if (this.#holds.get(finish.key)?.token === finish.token) this.#holds.delete(finish.key)
        }
        return { verb: 'finish', finish, dedupe, ...(answer && { answer }) }
      },
    )
  }

  #finishOf({ key, token }: Lease): Finish {
    const chance = this.#chance
    const roll = chance.next()
    if (roll < 0.4) return { as: 'done', key, token, forget: chance.happens(0.5) }
    if (roll < 0.5) {
      const again = { delayMs: chance.pick([0, 5, 20]), priority: chance.pick([0, 1]) }
      return { as: 'done', key, token, forget: chance.happens(0.5), again }
    }
    if (roll < 0.8) return { as: 'retry', key, token, delayMs: chance.pick([0, 0, 5, 20]) }
    return { as: 'release', key, token }
  }

  async #renew(): Promise<void> {
    const holds = [...this.#holds.values()].filter(({ isAtWork }) => isAtWork)
    if (holds.length === 0) return
    const leaseMs = leaseMsUsual
    await this.#call(
      holds.map(({ key }) => key),
      () => this.#driver.renew(this.#context.queue, holds, leaseMs),
      (index, replies) => {
        const hold = holds[index] as Hold
        const answer = known(replies?.[index])
        if (answer === 'refused') return undefined
        if (answer?.outcome === 'renewed') hold.leaseUntil = answer.leaseUntil
        return { verb: 'renew', token: hold.token, leaseMs, ...(answer && { answer }) }
      },
    )
  }

  async #expire(): Promise<void> {
    const { ends, queue } = this.#context
    const chosen = new Map<string, Lease>()
    for (const lease of ends.splice(0, 1 + this.#chance.below(3))) chosen.set(lease.key, lease)
    await this.expire([...chosen.values()], queue)
  }

  /** Ends leases. */
  async expire(leases: readonly Lease[], queue: string): Promise<void> {
    if (leases.length === 0) return
    await this.#call(
      leases.map(({ key }) => key),
      () => this.#driver.expire(queue, leases, { dedupe, maxCrashes }),
      (index, outcomes) => {
        const outcome = outcomes?.[index]
        const { token } = leases[index] as Lease
        if (typeof outcome === 'object') return undefined
        return { verb: 'expire', token, dedupe, ...(outcome !== undefined && { answer: outcome }) }
      },
    )
  }

  async #simple(verb: 'forget' | 'cancel'): Promise<void> {
    const { queue, keys } = this.#context
    const chosen = [this.#chance.pick(keys)]
    await this.#call(
      chosen,
      (): Awaitable<readonly (string | Failure)[]> => this.#driver[verb](queue, chosen),
      (index, outcomes) => {
        const answer = outcomes?.[index]
        if (typeof answer === 'object') return undefined
        return { verb, ...(answer !== undefined && { answer }) }
      },
    )
  }

  /** Claims and finishes every ready key; returns whether there was any. */
  async drain(): Promise<boolean> {
    const { history, queue, now } = this.#context
    const start = history.event()
    const request = { limit: 100, holder: this.name, claimId: `${queue}/drain/${start}` }
    const reply = await this.#driver.claim(queue, { ...request, leaseMs: leaseMsUsual })
    const end = history.event()
    for (const claim of reply.claims) {
      const action: Action = { verb: 'claim', leaseMs: leaseMsUsual, answer: claim }
      history.note({ key: claim.key, client: this.name, start, end, now: now(), action })
      await this.#beginWork(claim.key, claim.token, claim.leaseUntil)
    }
    for (const hold of [...this.#holds.values()]) {
      await this.#stopWork(hold)
      await this.#finishForGood(hold)
    }
    await this.expire(reply.leaseEnds, queue)
    return reply.claims.length + reply.leaseEnds.length > 0
  }

  async #finishForGood({ key, token }: Hold): Promise<void> {
    const finish: Finish = { as: 'done', key, token, forget: true }
    await this.#call(
      [key],
      () => this.#driver.finish(this.#context.queue, [finish], options),
      (_, replies) => {
        const answer = known(replies?.[0])
        if (answer === 'refused') return undefined
        return { verb: 'finish', finish, dedupe, ...(answer && { answer }) }
      },
    )
    this.#holds.delete(key)
  }
}

/** The answer for one key: known, unknown, or a rejection without effect. */
function known<T extends object>(reply: T | Failure | undefined): T | 'refused' | undefined {
  if (reply === undefined) return undefined
  if (!('error' in reply)) return reply as T
  return SluiceError.is(reply.error, 'ERR_UNKNOWN_OUTCOME') ? undefined : 'refused'
}

async function attempt<T>(
  ask: () => T | Promise<T>,
  recover?: () => Promise<T>,
): Promise<Result<T>> {
  try {
    return { answer: await ask() }
  } catch (error) {
    if (SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')) {
      return recover === undefined ? 'unknown' : { answer: await recover() }
    }
    if (SluiceError.is(error) && error.retryable) return 'refused'
    throw error
  }
}
