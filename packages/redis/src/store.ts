import { SluiceError } from '@sluice/core'
import type { Environment } from '@sluice/core/driver'
import {
  type Barrier,
  type Command,
  type Connections,
  type Reply,
  ReplyError,
} from './connection/connections.ts'
import { storeError } from './connection/errors.ts'
import { number } from './rows/columns.ts'
import type { Layout } from './rows/layout.ts'
import type { StoreTime } from './rows/store-time.ts'
import { scriptError, wrongTypeError } from './script-error.ts'
import { type ScriptName, scripts } from './scripts.ts'

/** How long a queue stays registered in this process before its name is written again. */
const registeredMs = 3_600_000

/** How long the names of queues with nothing on record stay in the registry. */
const forgottenMs = 86_400_000

/** How many queues are read at a time. */
const queuesPerTurn = 1_000

/** Records in which slots queues are, unless it is recorded, and replies with what is. */
const placing = `#!lua flags=allow-oom
redis.call('HSETNX', KEYS[1], 'oneSlot', ARGV[1])
return redis.call('HGET', KEYS[1], 'oneSlot')`

/** Registers a queue, also where the memory is full: its workers go on. */
const registering = `#!lua flags=allow-oom
return redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])`

/**
 * Deletes the keys of a queue that has nothing on record. Positions that are drawn later are above those of now:
 * what a failover has lost is known by them.
 */
const retiring = `#!lua flags=allow-oom
local version, paused, seq = unpack(redis.call('HMGET', KEYS[12], 'version', 'paused', 'seq'))
if not version then return 1 end
if version ~= '1' or paused == '1' or redis.call('HLEN', KEYS[1]) > 1 then return 0 end
seq = math.max(tonumber(seq), tonumber(redis.call('HGET', KEYS[14], 'seq') or 0))
redis.call('HSET', KEYS[14], 'seq', seq)
redis.call('UNLINK', unpack(KEYS, 1, 13))
redis.call('UNLINK', KEYS[16], KEYS[17])
return 1`

/** Removes a name from the registry that was registered before an instant, and not again since. */
const forgetting = `local at = redis.call('ZSCORE', KEYS[1], ARGV[2])
if at and tonumber(at) < tonumber(ARGV[1]) then redis.call('ZREM', KEYS[1], ARGV[2]) end`

/** Where the values of a verb begin in the reply of its script. */
export const verbStart = 5

/** The scripts whose writes are confirmed by replicas if the store is asked to. */
const writing: ReadonlySet<ScriptName> = new Set([
  'add',
  'claim',
  'renew',
  'finish',
  'expire',
  'change',
])

/**
 * The scripts that always wait for the replicas that there are: they are rare, and one that a failover
 * lost would undo a decision of an operator.
 */
const rare: ReadonlySet<ScriptName> = new Set([
  'pause',
  'purge',
  'import',
  'importBuckets',
  'drop',
  'tokens',
])
const rareChanges: ReadonlySet<string> = new Set(['park', 'unpark', 'unpark-forget', 'remove'])

/** The scripts that create a queue. */
const creating: ReadonlySet<ScriptName> = new Set([
  'add',
  'import',
  'pause',
  'tick',
  'importBuckets',
])

/** The dependencies of a {@link Store}. */
export interface StoreUse {
  readonly connections: Connections
  readonly layout: Layout
  readonly time: StoreTime
  readonly environment: Environment
  /** How many replicas have to confirm a write before it is acknowledged. */
  readonly replicas: number
  /** How long they may take, in milliseconds. */
  readonly confirmMs: number
}

/** When and by which process a script was run. */
export interface Written {
  /** The store's time. */
  readonly now: number
  /** The last position in the order that was drawn by then. */
  readonly lastSeq: number
  /** The run id of the process; the id of a node, or '', where that may not be read. */
  readonly by: string
}

/** Reads the head of a reply. */
export function writtenOf(reply: readonly Reply[]): Written {
  return { now: number(reply[0]), lastSeq: number(reply[4]), by: String(reply[2]) }
}

/** How a script is confirmed, if it has to be. */
export interface RunOptions {
  /** Whether the script uses what workers record. */
  readonly usesRecords?: boolean | undefined
  /** How long replicas may take, in milliseconds, if less than usual. */
  readonly confirmMs?: number | undefined
  /** Whether there is anything to confirm. */
  hasWritten?(reply: readonly Reply[]): boolean
  /** Called when replicas have not confirmed it; gives the error if it was undone. */
  undo?(reply: readonly Reply[]): Promise<SluiceError>
}

/** An open store, to which the verbs send their scripts. */
export class Store {
  readonly connections: Connections
  readonly layout: Layout
  readonly time: StoreTime
  /** The name of this driver object, by which it recognizes its own messages. */
  readonly id: string
  readonly #environment: Environment
  readonly #registered: Map<string, { readonly at: number; readonly primary: string }> = new Map()
  readonly #head: readonly string[]
  readonly #replicas: number
  readonly #confirmMs: number

  constructor({ connections, layout, time, environment, replicas, confirmMs }: StoreUse) {
    this.#replicas = replicas
    this.#confirmMs = confirmMs
    this.connections = connections
    this.layout = layout
    this.time = time
    this.#environment = environment
    this.id = environment.random().toString(36).slice(2)
    this.#head = [connections.isCluster ? 'SPUBLISH' : 'PUBLISH']
  }

  /** Runs a script that repeats what was acknowledged before, which no caller waits for. */
  async repeat(
    name: ScriptName,
    queue: string,
    args: readonly string[],
  ): Promise<readonly Reply[]> {
    return await this.#run(name, queue, args)
  }

  /** Runs the script of a verb, and waits for replicas if the verb has to. */
  async run(
    name: ScriptName,
    queue: string,
    args: readonly string[],
    { confirmMs = this.#confirmMs, hasWritten, undo, usesRecords = false }: RunOptions = {},
  ): Promise<readonly Reply[]> {
    const { slot } = this.layout.of(queue)
    const isRare = rare.has(name) || (name === 'change' && rareChanges.has(args[0] ?? ''))
    // Replicas may have come since the store was opened.
    if (isRare) await this.connections.progress(slot).catch(() => {})
    let replicas = writing.has(name) ? this.#replicas : 0
    if (isRare) replicas = Math.max(this.#replicas, this.connections.replicasOf(slot))
    if (replicas === 0) return await this.#run(name, queue, args, usesRecords)
    try {
      const barrier = await this.connections.barrier(slot)
      const reply = await this.#run(name, queue, args)
      if (hasWritten?.(reply) === false) return reply
      try {
        await this.#confirm(barrier, replicas, Math.min(confirmMs, this.#confirmMs))
      } catch (error) {
        // If undoing fails as well, the outcome stays unknown.
        throw (await undo?.(reply).catch(() => undefined)) ?? error
      }
      return reply
    } catch (error) {
      throw storeError(error)
    }
  }

  async #confirm(barrier: Barrier, replicas: number, withinMs: number): Promise<void> {
    try {
      await barrier.confirmed(replicas, withinMs)
    } catch (error) {
      // Where WAIT is withheld, no write can be confirmed; then only `durability` insists on it.
      const { cause } = error as Error
      if (this.#replicas > 0 || !(cause instanceof ReplyError && cause.isWithheld)) throw error
    }
  }

  /** Whether an acknowledged write has been confirmed by every replica of its primary. */
  isConfirmed(queue: string): boolean {
    const { slot } = this.layout.of(queue)
    return this.#replicas > 0 && this.#replicas >= this.connections.replicasOf(slot)
  }

  async #run(
    name: ScriptName,
    queue: string,
    args: readonly string[],
    usesRecords = false,
  ): Promise<readonly Reply[]> {
    const isCreating = creating.has(name) && queue !== ''
    if (isCreating) await this.#register(queue)
    const { all, recorded, slot, channel } = this.layout.of(queue)
    const keys = usesRecords ? [...all, ...recorded] : all
    const [given, least] = this.time.moment()
    const { sha, text } = scripts[name]
    const before = [
      String(keys.length),
      ...keys,
      given,
      least,
      ...this.#head,
      channel,
      queue,
      this.id,
    ]
    // Where the run id may not be read, a node of a cluster knows its own.
    const unknown = this.connections.isCluster ? 'cluster' : ''
    const command = (way: string, script: string): Command => {
      return (runId) => [way, script, ...before, runId || unknown, ...args]
    }
    const send = (): Promise<Reply> =>
      this.#send(slot, command('EVALSHA', sha), command('EVAL', text)).catch((error: unknown) =>
        this.#fail(error, queue),
      )
    const reply = (await (onlyReads(text) ? reading(send) : send())) as readonly Reply[]
    this.time.note(number(reply[0]), number(reply[1]))
    // The store was emptied after the queue was registered, and has lost its name, too. If this fails, the next call
    // registers it: this one is done.
    if (isCreating && reply[3] === `${this.id}-${reply[0]}`) {
      this.#registered.delete(queue)
      await this.#register(queue).catch(() => {})
    }
    return reply
  }

  /** Sends a command that is not a script. */
  async send(key: string, command: readonly string[]): Promise<Reply> {
    try {
      return await this.connections.send(key, command)
    } catch (error) {
      throw storeError(error)
    }
  }

  /** Sends a command that only reads. */
  async read(key: string, command: readonly string[]): Promise<Reply> {
    return await reading(() => this.send(key, command))
  }

  /** Reads a key of a queue by a command. */
  async readOf(queue: string, key: string, command: readonly string[]): Promise<Reply> {
    const send = () => this.connections.send(key, command)
    return await reading(() => send().catch((error: unknown) => this.#fail(error, queue)))
  }

  /** Rejects with the error of a call about one queue. */
  async #fail(error: unknown, queue: string): Promise<never> {
    throw (await wrongTypeError(this, error, queue)) ?? scriptError(error, queue)
  }

  /** The names of the queues that are registered. */
  async registeredQueues(): Promise<readonly string[]> {
    const { registry } = this.layout
    return (await this.read(registry, ['ZRANGE', registry, '0', '-1'])) as readonly string[]
  }

  /** Reads something of every queue that is registered, of a thousand at a time. */
  async ofEachQueue<T>(
    read: (queue: string) => Promise<T>,
  ): Promise<readonly (readonly [string, T])[]> {
    const names = await this.registeredQueues()
    const all: (readonly [string, T])[] = []
    for (let from = 0; from < names.length; from += queuesPerTurn) {
      const some = names.slice(from, from + queuesPerTurn)
      all.push(...(await Promise.all(some.map(async (name) => [name, await read(name)] as const))))
    }
    return all
  }

  /** The names of the queues that no process has used for a day. */
  async unusedQueues(): Promise<ReadonlySet<string>> {
    const { registry } = this.layout
    const names = await this.read(registry, [
      'ZRANGEBYSCORE',
      registry,
      '-inf',
      this.#unusedSince(),
    ])
    return new Set(names as readonly string[])
  }

  /** Deletes the remaining keys of a queue that has nothing on record, and its name. */
  async forgetQueue(name: string): Promise<void> {
    const { registry } = this.layout
    const { all, recorded, slot } = this.layout.of(name)
    const keys = [...all, ...recorded]
    const isGone = await this.send(slot, ['EVAL', retiring, String(keys.length), ...keys])
    if (isGone !== 1) return
    await this.send(registry, ['EVAL', forgetting, '1', registry, this.#unusedSince(), name])
  }

  #unusedSince(): string {
    return String(this.#environment.clock.now() - forgottenMs)
  }

  /**
   * The registry is in another slot than the queue, so its name is there before anything else is. Later,
   * no call waits for the registry.
   */
  async #register(queue: string): Promise<void> {
    const { registry } = this.layout
    const at = this.#environment.clock.monotonicMs()
    const known = this.#registered.get(queue)
    // Another primary need not have received the name. '': none answers, and the queue may be on one that does.
    const primary = this.connections.primaryOf(registry) || (known?.primary ?? '')
    if (known?.primary === primary && at - known.at < registeredMs) return
    const writing = this.#writeName(queue)
    if (known === undefined) await writing
    // The queue need not be on the server of the registry, which may refuse writes; the next call repeats it.
    else writing.catch(() => void this.#registered.set(queue, known))
    this.#registered.set(queue, { at, primary })
  }

  async #writeName(queue: string): Promise<void> {
    const { registry, isShared, slots, oneSlot, tokenFloor } = this.layout
    this.layout.checkOneSlot(await this.send(registry, ['EVAL', placing, '1', slots, oneSlot]))
    const now = String(this.#environment.clock.now())
    await this.send(registry, ['EVAL', registering, '1', registry, now, queue])
    // Tokens may have been raised before the queue was known. A script with both keys fails while their slot moves.
    const floor = isShared ? null : await this.send(registry, ['ZSCORE', tokenFloor, ''])
    if (floor !== null) await this.run('tokens', queue, [String(floor)])
  }

  /** Queues that are used for the first time from now on begin above this token. */
  async raiseFloor(token: string): Promise<void> {
    const { registry, isShared, tokenFloor } = this.layout
    if (isShared) return
    const replicas = Math.max(this.#replicas, this.connections.replicasOf(registry))
    try {
      const barrier = replicas === 0 ? undefined : await this.connections.barrier(registry)
      await this.connections.send(registry, ['ZADD', tokenFloor, 'GT', token, ''])
      if (barrier !== undefined) await this.#confirm(barrier, replicas, this.#confirmMs)
    } catch (error) {
      throw storeError(error)
    }
  }

  async #send(slot: string, bySha: Command, byText: Command): Promise<Reply> {
    try {
      return await this.connections.send(slot, bySha)
    } catch (error) {
      if (!(error instanceof ReplyError) || error.code !== 'NOSCRIPT') throw error
    }
    return await this.connections.send(slot, byText)
  }
}

/** Whether a script only reads, which the server makes sure of. */
function onlyReads(text: string): boolean {
  return text.startsWith('#!lua flags=no-writes')
}

/** Reads. A read that was not answered has changed nothing, and may be repeated. */
async function reading<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send()
  } catch (error) {
    if (!SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')) throw error
    throw new SluiceError('ERR_STORE', `the store was not read: ${error.message}`, {
      cause: error,
      retryable: true,
    })
  }
}
