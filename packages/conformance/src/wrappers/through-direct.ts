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

/** Where the driver said that it keeps a key, while that is worth knowing. */
interface Handle {
  readonly handle: number
  readonly door: DirectQueue
}

/**
 * The same driver, reached through its direct door wherever that leads to what is asked: adds one
 * by one, claims without a lease, and the finishes of those claims. So the cases examine that the
 * door means exactly what the verbs mean.
 */
export function throughDirect(driver: Driver): Driver {
  if (driver.direct === undefined) throw new TypeError(`${driver.name} has no direct door`)
  const doors = new Map<string, DirectQueue>()
  const handles = new Map<number, Handle>()
  const doorOf = (queue: string): DirectQueue => {
    const door = doors.get(queue) ?? (driver.direct?.(queue) as DirectQueue)
    doors.set(queue, door)
    return door
  }
  const { watch: _, ...able } = driver.capabilities
  const members = {
    capabilities: { ...able, watch: false },
    // What is done through the door need not be reported to those who watch.
    watch: undefined,
    close(): Awaitable<void> {
      doors.clear()
      return driver.close()
    },
    async add(queue: string, asks: readonly Ask[], options: AskOptions) {
      const [ask, ...others] = asks
      // Several have a common count of what is pending, which only the verb keeps.
      if (ask === undefined || others.length > 0) return await driver.add(queue, asks, options)
      const door = doorOf(queue)
      if (!isPlain(ask, options)) return [door.ask(ask, options)]
      const { key, item, priority } = ask
      const isMoot = item === undefined && door.isMoot?.(key, priority) === true
      const outcome = isMoot ? 'unchanged' : door.add(key, item, priority, options)
      const failures = door.failures(key, options.failuresExpireMs)
      return [{ outcome, dueAt: (await rowOf(driver, queue, key))?.dueAt ?? never, failures }]
    },
    async claim(queue: string, request: ClaimRequest): Promise<ClaimReply> {
      const { leaseMs, limit, holder, dueBy = Infinity } = request
      const into = emptyClaim()
      const door = doorOf(queue)
      const isFor = leaseMs === Infinity && limit === 1
      if (!isFor || !door.claim(into, holder, dueBy)) return await driver.claim(queue, request)
      handles.set(into.token, { handle: into.handle, door })
      const { now } = await driver.tick(queue, tickRequest)
      const readyAt = door.readyAt?.(into.handle, into.token)
      return { claims: [await wholeClaim(driver, queue, into, readyAt)], leaseEnds: [], now }
    },
    async finish(
      queue: string,
      finishes: readonly Finish[],
      options: AskOptions,
    ): Promise<readonly (FinishReply | Failure)[]> {
      const [finish, ...others] = finishes
      const known = finish && handles.get(finish.token)
      if (finish === undefined || known?.door !== doorOf(queue) || others.length > 0) {
        return await driver.finish(queue, finishes, options)
      }
      const { door, handle } = known
      if (finish.as !== 'done') return [door.finish(handle, finish, options)]
      const outcome = door.done(handle, finish.token, finish.forget)
      if (outcome === 'lost') return [{ outcome, dueAt: never, failures: 0 }]
      const row = await rowOf(driver, queue, finish.key)
      return [{ outcome, dueAt: row?.dueAt ?? never, failures: row?.failures ?? 0 }]
    },
    forget: (queue: string, keys: readonly string[]) =>
      keys.map((key) => doorOf(queue).forget(key)),
    async counts(queue: string, options: { readonly cap: number }): Promise<Counts> {
      const counts = await driver.counts(queue, options)
      return counts.capped ? counts : { ...counts, ready: doorOf(queue).ready() }
    },
    async tick(queue: string, request: TickRequest): Promise<TickReply> {
      return { ...(await driver.tick(queue, request)), nextAt: doorOf(queue).nextAt() }
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

/** An ask that the shorter of the door's two verbs takes. */
function isPlain(ask: Ask, options: AskOptions): boolean {
  return (
    !(ask.delayMs > 0) &&
    ask.plan === undefined &&
    ask.failed !== true &&
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

/** What the door does not fill in is looked up. */
async function wholeClaim(
  driver: Driver,
  queue: string,
  filled: DirectClaim,
  told: number | undefined,
): Promise<Claim> {
  const { key, itemText: item, token, failures, crashes, priority, askedAt } = filled
  const readyAt = told ?? (await rowOf(driver, queue, key))?.claimedReadyAt ?? never
  return { key, item, token, failures, crashes, priority, askedAt, readyAt, leaseUntil: Infinity }
}
