import type { Environment } from '@sluice/core/driver'
import { type Link, messageOf } from '../clients/link.ts'
import { type Barrier, ConnectionError, ReplyError } from '../connection/connections.ts'
import type { OpenLink } from '../connection/open-link.ts'
import { type Replication, replicationOf, unlessWithheld } from './replication.ts'

interface Waiting {
  readonly link: Link
  readonly key: string
  readonly replicas: number
  readonly endAt: number
  resolve(): void
  reject(error: ConnectionError): void
}

/** The server, as far as a barrier needs it. */
interface Primary {
  readonly id: string
  readonly runId: string | undefined
  /** The connection for commands. */
  readonly link: Link | undefined
}

/** The longest that one `WAIT` blocks the connection, in milliseconds; then it is sent again. */
const waitMs = 1_000

/**
 * Writes, and leaves nothing. Not refused where the memory is full. Uses only commands that the other scripts use.
 */
const mark = `#!lua flags=allow-oom
redis.call('HSET', KEYS[1], 'mark', '')
return redis.call('UNLINK', KEYS[1])`

/** The command that writes in the slot of a key. */
function markIn(key: string): readonly string[] {
  return ['EVAL', mark, '1', key.includes('{') ? `${key}:mark` : `{${key}}:mark`]
}

/** Whether a write in the slot of a key is made; the server may refuse it, as while the slot is moved. */
async function isMarked(link: Link, key: string): Promise<boolean> {
  try {
    await link.send(markIn(key))
    return true
  } catch (error) {
    if (error instanceof ReplyError) return false
    throw error
  }
}

/**
 * A connection to a primary on which only `WAIT` is sent. `WAIT` answers for the last write of its own connection;
 * a write in front of it makes that everything the primary had executed by then. A command that only reads does so
 * up to Redis 7.0: later servers would answer for nothing.
 * On the connection for commands it would hold up the commands behind it.
 */
export class BarrierLine {
  readonly #primary: Primary
  readonly #link: OpenLink
  readonly #environment: Environment
  #waiting: Waiting[] = []
  /** The connection over which the last look has written. */
  #askedOn: Link | undefined
  #isAsking = false

  constructor(primary: Primary, link: OpenLink, environment: Environment) {
    this.#primary = primary
    this.#link = link
    this.#environment = environment
  }

  /** A barrier for commands that are sent later. `key` is in a slot that the primary serves. */
  async before(key: string): Promise<Barrier> {
    const { id, link: commands } = this.#primary
    const link = await this.#lineFor(commands)
    const problem = (): string | undefined => {
      // A new connection answers for all replicas at once, whatever they have received.
      if (!link.isOpen) return 'the connection of the barrier has ended'
      if (this.#primary.id !== id || this.#primary.link !== commands)
        return 'the primary has changed'
      if (link !== commands && link.runId !== commands?.runId)
        return 'the barrier leads to another server'
      return undefined
    }
    return {
      confirmed: async (replicas, withinMs) => {
        const before = problem()
        if (before !== undefined) throw new ConnectionError(before, true)
        await this.#confirmed(link, key, replicas, withinMs)
        const after = problem()
        if (after !== undefined) throw new ConnectionError(after, true)
      },
    }
  }

  /** The replicas, as the server reports them. `key` is in a slot that the primary serves. */
  async look(key: string): Promise<Replication> {
    const { id, link: commands } = this.#primary
    const link = await this.#lineFor(commands)
    // On a new connection WAIT counts every replica; later, those that have what it answered last.
    const isSame = this.#askedOn === link
    const [count, info] = await Promise.all([
      link.send(['WAIT', '0', '0']).catch(unlessWithheld),
      link.send(['INFO', 'replication']).catch(unlessWithheld),
    ])
    if (link !== commands && link.runId !== this.#primary.runId) {
      throw new ConnectionError('the barrier leads to another server', false)
    }
    if (this.#primary.id !== id) throw new ConnectionError('the primary has changed', false)
    const read = replicationOf(info)
    if (read !== undefined) return read
    // The next look is answered for everything until now, by whichever connection it was written.
    const isAnswered = count !== '' && (await isMarked(link, key))
    this.#askedOn = isAnswered ? link : undefined
    // Where nothing can be confirmed, no replica is waited for.
    const following = isSame ? Number(count) : 0
    const counted = Number(count)
    return { counted, connected: Infinity, history: '', following: () => following, offset: 0 }
  }

  openNow(): void {
    this.#link.openNow()
  }

  close(): void {
    this.#link.close()
  }

  /**
   * A user that may not read which process it is connected to cannot know that two connections lead to
   * the same one. Then the barrier is on the connection for commands.
   */
  async #lineFor(commands: Link | undefined): Promise<Link> {
    if (commands === undefined) throw new ConnectionError('there is no connection', false)
    if (commands.runId === undefined) return commands
    return this.#link.current ?? (await this.#link.get())
  }

  async #confirmed(link: Link, key: string, replicas: number, withinMs: number): Promise<void> {
    const endAt = this.#environment.clock.monotonicMs() + withinMs
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ link, key, replicas, endAt, resolve, reject })
      if (!this.#isAsking) void this.#askForAll()
    })
  }

  /** One `WAIT` at a time, for everything that waits when it is sent. */
  async #askForAll(): Promise<void> {
    this.#isAsking = true
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      const { link, key } = first
      const group = this.#waiting.filter((one) => one.link === link)
      this.#waiting = this.#waiting.filter((one) => one.link !== link)
      const { clock } = this.#environment
      const endAt = Math.min(...group.map((one) => one.endAt))
      const withinMs = Math.min(waitMs, Math.max(1, Math.ceil(endAt - clock.monotonicMs())))
      const wanted = Math.max(...group.map(({ replicas }) => replicas))
      try {
        const count = await this.#ask(link, key, wanted, withinMs)
        const now = clock.monotonicMs()
        for (const one of group) {
          if (count >= one.replicas) one.resolve()
          else if (one.endAt > now) this.#waiting.push(one)
          else one.reject(new ConnectionError(`${count} of ${one.replicas} replicas have it`, true))
        }
      } catch (error) {
        const reason = new ConnectionError(`no confirmation: ${messageOf(error)}`, true, error)
        // The server may refuse the write for this key alone, as while its slot is moved.
        const isOfKey = error instanceof ReplyError && !error.isWithheld
        for (const one of group) {
          if (isOfKey && one.key !== key) this.#waiting.push(one)
          else one.reject(reason)
        }
      }
    }
    this.#isAsking = false
  }

  async #ask(link: Link, key: string, replicas: number, withinMs: number): Promise<number> {
    const [, count] = await Promise.all([
      link.send(markIn(key)),
      link.send(['WAIT', String(replicas), String(withinMs)]),
    ])
    return Number(count)
  }
}
