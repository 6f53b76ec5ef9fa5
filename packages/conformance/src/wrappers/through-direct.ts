import {
  type Ask,
  type AskOptions,
  type Awaitable,
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  type Counts,
  type DirectClaim,
  type DirectQueue,
  type Driver,
  type Failure,
  type Finish,
  type FinishReply,
  type KeyRow,
  never,
  type TickReply,
  type TickRequest,
} from '@sluice/core'

/** The handle that the driver gave to a claim, until the claim is finished. */
interface Handle {
  readonly handle: number
  readonly direct: DirectQueue
}

/**
 * The same driver, called through its direct queue where that can serve the call: single adds, claims
 * without a lease, and the finishes of those claims. So the cases test that the direct queue means
 * exactly what the verbs mean.
 */
export function throughDirect(driver: Driver): Driver {
  if (driver.direct === undefined) throw new TypeError(`${driver.name} has no direct queue`)
  const directs = new Map<string, DirectQueue>()
  const handles = new Map<number, Handle>()
  const directOf = (queue: string): DirectQueue => {
    const direct = directs.get(queue) ?? (driver.direct?.(queue) as DirectQueue)
    directs.set(queue, direct)
    return direct
  }
  const { watch: _, ...able } = driver.capabilities
  const members = {
    capabilities: { ...able, watch: false },
    // Changes through the direct queue need not be reported to watchers.
    watch: undefined,
    close(): Awaitable<void> {
      directs.clear()
      return driver.close()
    },
    async add(queue: string, asks: readonly Ask[], options: AskOptions) {
      const [ask, ...others] = asks
      // Several adds share one count of pending keys, which only the verb keeps.
      if (ask === undefined || others.length > 0) return await driver.add(queue, asks, options)
      const direct = directOf(queue)
      if (!isPlain(ask, options)) return [direct.ask(ask, options)]
      const { key, item, priority } = ask
      const isNoOp = item === undefined && direct.isNoOp?.(key, priority) === true
      const outcome = isNoOp ? 'unchanged' : direct.add(key, item, priority, options)
      const failures = direct.failures(key, options.failuresExpireMs)
      return [{ outcome, dueAt: (await rowOf(driver, queue, key))?.dueAt ?? never, failures }]
    },
    async claim(queue: string, request: ClaimRequest): Promise<ClaimReply> {
      const { leaseMs, limit, holder, dueBy = Infinity } = request
      const into = emptyClaim()
      const direct = directOf(queue)
      const isFor = leaseMs === Infinity && limit === 1
      if (!isFor || !direct.claim(into, holder, dueBy)) return await driver.claim(queue, request)
      handles.set(into.token, { handle: into.handle, direct })
      const { now } = await driver.tick(queue, tickRequest)
      return { claims: [await wholeClaim(driver, queue, direct, into)], leaseEnds: [], now }
    },
    async finish(
      queue: string,
      finishes: readonly Finish[],
      options: AskOptions,
    ): Promise<readonly (FinishReply | Failure)[]> {
      const [finish, ...others] = finishes
      const known = finish && handles.get(finish.token)
      if (finish === undefined || known?.direct !== directOf(queue) || others.length > 0) {
        return await driver.finish(queue, finishes, options)
      }
      const { direct, handle } = known
      if (finish.as !== 'done' || finish.again !== undefined) {
        return [direct.finish(handle, finish, options)]
      }
      const outcome = direct.done(handle, finish.token, finish.forget)
      if (outcome === 'lost') return [{ outcome, dueAt: never, failures: 0 }]
      const row = await rowOf(driver, queue, finish.key)
      return [{ outcome, dueAt: row?.dueAt ?? never, failures: row?.failures ?? 0 }]
    },
    forget: (queue: string, keys: readonly string[]) =>
      keys.map((key) => directOf(queue).forget(key)),
    async counts(queue: string, options: { readonly cap: number }): Promise<Counts> {
      const counts = await driver.counts(queue, options)
      return counts.capped ? counts : { ...counts, ready: directOf(queue).ready() }
    },
    async tick(queue: string, request: TickRequest): Promise<TickReply> {
      return { ...(await driver.tick(queue, request)), nextAt: directOf(queue).nextAt() }
    },
  }
  return new Proxy(driver, {
    get(_, name) {
      const source = Object.hasOwn(members, name) ? members : driver
      const value: unknown = Reflect.get(source, name, source)
      return typeof value === 'function' ? value.bind(source) : value
    },
  })
}

/** Whether the shorter of the two verbs for adds accepts the ask. */
function isPlain(ask: Ask, options: AskOptions): boolean {
  return (
    !(ask.delayMs > 0) &&
    ask.plan === undefined &&
    ask.failed !== true &&
    ask.trace === undefined &&
    options.maxPending === undefined
  )
}

const tickRequest: TickRequest = { holder: '', limit: 1, failuresExpireMs: Infinity }

async function rowOf(driver: Driver, queue: string, key: string): Promise<KeyRow | undefined> {
  return (await driver.list(queue, { keys: [key], limit: 1 })).rows[0]
}

function emptyClaim(): DirectClaim {
  return {
    key: '',
    itemText: undefined,
    token: 0,
    handle: 0,
    failures: 0,
    crashes: 0,
    priority: 0,
    askedAt: 0,
  }
}

/** The claim, completed: the direct queue tells some members only if asked, or only in the row. */
async function wholeClaim(
  driver: Driver,
  queue: string,
  direct: DirectQueue,
  { handle, itemText: item, ...filled }: DirectClaim,
): Promise<Claim> {
  const { key, token } = filled
  const isTold = direct.readyAt !== undefined && direct.trace !== undefined
  const row = isTold ? undefined : await rowOf(driver, queue, key)
  const readyAt = direct.readyAt?.(handle, token) ?? row?.claimedReadyAt ?? never
  const trace = direct.trace === undefined ? row?.claimedTrace : direct.trace(handle, token)
  return { ...filled, item, readyAt, leaseUntil: Infinity, trace }
}
