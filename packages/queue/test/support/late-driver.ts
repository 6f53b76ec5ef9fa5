import type {
  Awaitable,
  Capabilities,
  Claim,
  ClaimReply,
  ClaimRequest,
  Driver,
  KeyRow,
  OpenOptions,
  Operate,
} from '@sluice/core'

/** One call of a driver, as it was made. */
export interface Call {
  readonly verb: string
  /** The arguments after the queue's name, for verbs with one. */
  readonly request: unknown
}

/** Called around a call of the driver; the call rejects with the error that it throws. */
export type Around = (call: Call) => Awaitable<void>

/** The next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/**
 * A driver without a direct queue that answers every verb later, around another one.
 *
 * A test decides when (`before` and `after` the effect), which call fails (either may throw: before,
 * and nothing was done; after, and the answer is lost), and which one is held back.
 */
export class LateDriver implements Driver {
  readonly name = 'late'
  readonly contractVersion: number
  capabilities: Capabilities
  readonly operate: Operate
  readonly inner: Driver
  ahead = 0
  before: Around = nextTurn
  after: Around = () => undefined
  calls: Call[] = []
  inFlight = 0
  /** Verbs whose calls wait, and those calls. */
  readonly #held = new Map<string, (() => void)[]>()
  readonly #claimed = new Map<string, readonly Claim[]>()

  constructor(inner: Driver) {
    this.inner = inner
    this.contractVersion = inner.contractVersion
    this.capabilities = inner.capabilities
    const operate = inner.operate as Operate
    const call = this.#call.bind(this)
    this.operate = {
      pause: (queue) => call('pause', undefined, () => operate.pause(queue)),
      resume: (queue) => call('resume', undefined, () => operate.resume(queue)),
      park: (queue, keys) => call('park', keys, () => operate.park(queue, keys)),
      unpark: (queue, keys, options) =>
        call('unpark', keys, () => operate.unpark(queue, keys, options)),
      runNow: (queue, keys) => call('runNow', keys, () => operate.runNow(queue, keys)),
      remove: (queue, keys) => call('remove', keys, () => operate.remove(queue, keys)),
      purge: (queue) => call('purge', undefined, () => operate.purge(queue)),
    }
  }

  /** Calls of this verb wait from now on, before they have any effect. */
  hold(verb: string): void {
    if (!this.#held.has(verb)) this.#held.set(verb, [])
  }

  /** How many calls of this verb wait. */
  waiting(verb: string): number {
    return this.#held.get(verb)?.length ?? 0
  }

  /** Waiting calls of this verb keep waiting until the abandoned ones are released. */
  abandon(verb: string): void {
    const waiting = this.#held.get(verb) ?? []
    this.#held.delete(verb)
    this.#held.set('abandoned', [...(this.#held.get('abandoned') ?? []), ...waiting])
  }

  /** Releases calls of this verb, waiting and future ones. */
  letGo(verb: string): void {
    const waiting = this.#held.get(verb) ?? []
    this.#held.delete(verb)
    for (const resolve of waiting) resolve()
  }

  /** How often this verb was called. */
  count(verb: string): number {
    return this.calls.filter((call) => call.verb === verb).length
  }

  /** The requests of this verb, in the order of the calls. */
  requests(verb: string): unknown[] {
    return this.calls.filter((call) => call.verb === verb).map(({ request }) => request)
  }

  async #call<R>(verb: string, request: unknown, send: () => Awaitable<R>): Promise<R> {
    const call: Call = { verb, request }
    this.calls.push(call)
    this.inFlight += 1
    try {
      await this.before(call)
      const waiting = this.#held.get(verb)
      if (waiting !== undefined) {
        this.inFlight -= 1
        await new Promise<void>((resolve) => waiting.push(resolve))
        this.inFlight += 1
      }
      const reply = await send()
      await this.after(call)
      return reply
    } finally {
      this.inFlight -= 1
    }
  }

  open(options: OpenOptions): Promise<void> {
    return this.#call('open', options, () => this.inner.open(options))
  }

  close(): Promise<void> {
    return this.#call('close', undefined, () => this.inner.close())
  }

  add: Driver['add'] = (queue, asks, options) =>
    this.#call('add', asks, () => this.inner.add(queue, asks, options))

  cancel: Driver['cancel'] = (queue, keys) =>
    this.#call('cancel', keys, () => this.inner.cancel(queue, keys))

  claim(queue: string, request: ClaimRequest): Promise<ClaimReply> {
    return this.#call('claim', request, async () => {
      const reply = await this.inner.claim(queue, request)
      this.#claimed.set(request.claimId, reply.claims)
      return reply
    })
  }

  adopt(queue: string, claimId: string): Promise<readonly Claim[]> {
    return this.#call('adopt', claimId, async () => {
      const claims = this.#claimed.get(claimId) ?? []
      const keys = claims.map(({ key }) => key)
      if (keys.length === 0) return []
      const { rows } = await this.inner.list(queue, { keys, limit: keys.length })
      const tokens = new Map(rows.map(({ key, token }: KeyRow) => [key, token]))
      return claims.filter(({ key, token }) => tokens.get(key) === token)
    })
  }

  expire: Driver['expire'] = (queue, leases, options) =>
    this.#call('expire', leases, () => this.inner.expire(queue, leases, options))

  renew: Driver['renew'] = (queue, leases, leaseMs) =>
    this.#call('renew', leases, () => this.inner.renew(queue, leases, leaseMs))

  finish: Driver['finish'] = (queue, finishes, options) =>
    this.#call('finish', finishes, () => this.inner.finish(queue, finishes, options))

  forget: Driver['forget'] = (queue, keys) =>
    this.#call('forget', keys, () => this.inner.forget(queue, keys))

  tick: Driver['tick'] = (queue, request) =>
    this.#call('tick', request, () => this.inner.tick(queue, request))

  counts: Driver['counts'] = (queue, options) =>
    this.#call('counts', options, () => this.inner.counts(queue, options))

  list: Driver['list'] = (queue, request) =>
    this.#call('list', request, () => this.inner.list(queue, request))

  queues: NonNullable<Driver['queues']> = () =>
    this.#call('queues', undefined, () => this.inner.queues?.() ?? [])

  workers: NonNullable<Driver['workers']> = (queue, withinMs) =>
    this.#call('workers', withinMs, () => this.inner.workers?.(queue, withinMs) ?? [])

  history: NonNullable<Driver['history']> = (queue, stepMs) =>
    this.#call(
      'history',
      stepMs,
      () => this.inner.history?.(queue, stepMs) ?? { now: 0, steps: [] },
    )

  failedRuns: NonNullable<Driver['failedRuns']> = (queue) =>
    this.#call('failedRuns', undefined, () => this.inner.failedRuns?.(queue) ?? [])

  buckets: NonNullable<Driver['buckets']> = () =>
    this.#call('buckets', undefined, () => this.inner.buckets?.() ?? [])

  watch: NonNullable<Driver['watch']> = (onWake) =>
    this.#call('watch', undefined, async () => await this.inner.watch?.(onWake)) as Promise<
      () => void
    >
}
