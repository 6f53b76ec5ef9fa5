import { SluiceError } from '@sluice/core'
import { nextTurn } from '@sluice/core/driver'
import type { PgPool, PgPoolClient, Row } from './client-shapes.ts'
import { beginText, type Connection, type Connections, type RunOptions } from './connection.ts'
import { suspicionMs } from './connection-probe.ts'
import { DeadlineError, ignore, withDeadline } from './deadline.ts'
import { destroySocket } from './destroy-socket.ts'
import {
  breaksConnection,
  connectError,
  isForeignPrepared,
  sqlStateOf,
  storeError,
} from './errors.ts'
import { type ClientUse, PgConnection } from './pg-connection.ts'
import type { Statement } from './statements.ts'

/** How a pool is used. */
export interface PoolUse extends ClientUse {
  /** Where connections lead, as the end of `no connection to Postgres`. */
  readonly to?: ((isAnswered: boolean) => string) | undefined
  /** Ends the pool; missing if the pool is the caller's. */
  readonly end?: () => Promise<void>
}

/** A pooler accepts connections for which it has no server connection, and keeps their statements. */
const untriedText =
  '; the connection was accepted, but its first statement not answered, as by a pooler in session mode ' +
  'with no free server connection: allow it poolSize + 2 for each process'

/**
 * Keeps an error of a connection that the pool hands out from ending the process. It may be read together with the
 * answer that makes the connection free: the pool listens no longer then, and the call that gets it not yet.
 */
function listenUntilTaken(client: PgPoolClient): void {
  client.on('error', ignore)
  queueMicrotask(() => client.removeListener('error', ignore))
}

/** The event of a pool that hands out a connection. It is not part of what a pool of the caller's has to have. */
interface AcquiringPool {
  on(event: 'acquire', listener: (client: PgPoolClient) => void): unknown
  removeListener(event: 'acquire', listener: (client: PgPoolClient) => void): unknown
}

/** Connections from a pool of `pg`. */
export class PoolConnections implements Connections {
  readonly #pool: PgPool
  readonly #use: PoolUse
  #usesTransactions = false
  #prepares = true
  /** When connections were taken, and last answered, on the monotonic clock. */
  readonly #takenAt = new WeakMap<PgPoolClient, number>()
  readonly #answeredAt = new WeakMap<PgPoolClient, number>()
  /** When the last connection was taken that then stayed silent. */
  #silentSince = -Infinity
  #seesConnects = false
  /** Connections that were accepted, and have answered no statement yet. */
  readonly #untried = new WeakSet<PgPoolClient>()
  /** Connections over which the statement was sent that goes first. */
  readonly #begun = new WeakSet<PgPoolClient>()
  /** How many connections this driver has taken. */
  #takenCount = 0
  /** Calls that wait for a connection of the pool, by the functions that end their waits. */
  readonly #connecting = new Set<(error: unknown) => void>()
  /** Calls that a full server refused a connection: each waits until another call gives one back. */
  readonly #waiting = new Set<{ readonly wake: () => void }>()
  /** The pool of the driver's own was ended. */
  #isEnded = false

  constructor(pool: PgPool, use: PoolUse) {
    this.#pool = pool
    this.#use = use
    // Without a listener, an error of an idle connection would end the process.
    pool.on('error', ignore)
    pool.on('connect', this.#onConnect)
    // The driver's own pool listens to all of its connections, at any time.
    if (!use.end) (pool as object as AcquiringPool).on('acquire', listenUntilTaken)
  }

  readonly #onConnect = (client: PgPoolClient): void => {
    this.#seesConnects = true
    this.#untried.add(client)
    this.#answeredAt.set(client, this.#use.environment.clock.monotonicMs())
  }

  run(
    statement: Statement,
    values: readonly unknown[],
    options?: RunOptions,
  ): Promise<readonly Row[]> {
    const query = (connection: Connection): Promise<readonly Row[]> =>
      connection.query(statement, values)
    return this.#usesTransactions
      ? this.transaction(query, options)
      : this.connected(query, options)
  }

  async connected<T>(
    work: (connection: Connection) => Promise<T>,
    options: RunOptions = {},
  ): Promise<T> {
    const client = await this.#take(options)
    try {
      const connection = this.#connection(client, options)
      await this.#begin(client, connection, options)
      const answer = await work(connection)
      this.#giveBack(client)
      return answer
    } catch (error) {
      await this.#giveUp(client, error)
      if (isForeignPrepared(error) && this.#prepares) {
        this.stopPreparing()
        return await this.connected(work, options)
      }
      throw storeError(error, 'sent', this.#adviceFor(client, error))
    }
  }

  async transaction<T>(
    work: (connection: Connection) => Promise<T>,
    options: RunOptions = {},
  ): Promise<T> {
    const client = await this.#take(options)
    const connection = this.#connection(client, options)
    let isCommitting = false
    try {
      await connection.script(beginText(options))
      this.#untried.delete(client)
      await this.#begin(client, connection, options)
      const answer = await work(connection)
      isCommitting = true
      await connection.script('commit')
      this.#giveBack(client)
      return answer
    } catch (error) {
      await this.#undo(client, connection, error)
      if (isForeignPrepared(error) && this.#prepares) {
        this.stopPreparing()
        return await this.transaction(work, options)
      }
      // Before the commit is sent, nothing has taken effect.
      throw storeError(error, isCommitting ? 'sent' : 'unsent', this.#adviceFor(client, error))
    }
  }

  async #begin(client: PgPoolClient, connection: Connection, { first }: RunOptions): Promise<void> {
    if (first === undefined || this.#begun.has(client)) return
    await connection.query(first.statement, first.values)
    this.#begun.add(client)
  }

  #adviceFor(client: PgPoolClient, error: unknown): string {
    return error instanceof DeadlineError && this.#untried.has(client) ? untriedText : ''
  }

  get usesTransactions(): boolean {
    return this.#usesTransactions
  }

  useTransactions(): void {
    this.#usesTransactions = true
  }

  stopPreparing(): void {
    this.#prepares = false
  }

  async close(): Promise<void> {
    const { end } = this.#use
    if (end !== undefined) {
      // A pool hands out an idle connection in a later turn of the microtask queue, and none once it ends.
      await new Promise<void>((resolve) => {
        nextTurn(() => {
          this.#isEnded = true
          void end().then(resolve, resolve)
          // It serves none of the calls that still wait.
          for (const endWait of this.#connecting) endWait(new Error('the driver was closed'))
        })
      })
    }
    // The driver's own pool keeps its listeners: it may lose connections while it ends.
    else {
      this.#pool.removeListener('error', ignore)
      this.#pool.removeListener('connect', this.#onConnect)
      const pool = this.#pool as object as AcquiringPool
      pool.removeListener('acquire', listenUntilTaken)
    }
  }

  #connection(client: PgPoolClient, { withinMs = Infinity }: RunOptions): Connection {
    const use = { ...this.#use, timeoutMs: Math.min(this.#use.timeoutMs, withinMs) }
    return new PgConnection(client, use, () => this.#prepares)
  }

  async #take({ withinMs = Infinity }: RunOptions): Promise<PgPoolClient> {
    const { environment, timeoutMs } = this.#use
    const endAt = environment.clock.monotonicMs() + Math.min(timeoutMs, withinMs)
    try {
      for (;;) {
        const client = await this.#connect(endAt)
        if (client === undefined) continue
        if (this.#isTrusted(client)) {
          this.#takenCount += 1
          client.on('error', ignore)
          this.#takenAt.set(client, environment.clock.monotonicMs())
          return client
        }
        this.#discard(client)
      }
    } catch (error) {
      this.#wakeNext()
      if (error instanceof DeadlineError) {
        throw new SluiceError('ERR_TIMEOUT', `nothing was sent: ${error.message}`, {
          cause: error,
          retryable: true,
        })
      }
      if (this.#isEnded) {
        const message = 'nothing was sent: the driver was closed; a new queue opens it'
        throw new SluiceError('ERR_STORE', message, { cause: error, retryable: true })
      }
      throw connectError(error, this.#use.to)
    }
  }

  /** Waits for a connection; `undefined` if the one that was being opened is lost, or the server was full. */
  async #connect(endAt: number): Promise<PgPoolClient | undefined> {
    const what = 'the wait for a connection'
    const { environment } = this.#use
    const withinMs = endAt - environment.clock.monotonicMs()
    const { hasOwnClients } = this.#use
    const { idleCount = 0, waitingCount = 0 } = this.#pool
    const isIdle = idleCount > waitingCount
    const connecting = this.#pool.connect()
    // An idle connection comes at once, and nothing but this driver can end its own pool.
    if (hasOwnClients === true && isIdle) return await connecting
    const options = {
      late: (late: PgPoolClient) => late.release(),
      waits: this.#connecting,
      suspicion: this.#connectSuspicion(),
    }
    try {
      return await withDeadline(environment, withinMs, what, connecting, options)
    } catch (error) {
      if (error instanceof DeadlineError && error.isLost) return undefined
      if (sqlStateOf(error) !== '53300') throw error
      if (this.#takenCount > 0) await this.#givenBack(endAt)
      else if ((this.#pool.idleCount ?? 0) === 0) throw error
      return undefined
    }
  }

  /** Waits until a call of this driver has given a connection back. */
  async #givenBack(endAt: number): Promise<void> {
    const { environment } = this.#use
    const what = 'the wait for a connection, while the server accepts no more of them,'
    const call = { wake: ignore }
    const woken = new Promise<void>((resolve) => {
      call.wake = resolve
    })
    this.#waiting.add(call)
    try {
      await withDeadline(environment, endAt - environment.clock.monotonicMs(), what, woken)
    } finally {
      this.#waiting.delete(call)
    }
  }

  /** One call at a time, which then gives back what it gets, or fails and wakes the next. */
  #wakeNext(): void {
    if (this.#waiting.size === 0) return
    const [call] = this.#waiting
    this.#waiting.delete(call!)
    call!.wake()
  }

  /** A new connection may hang where the next one does not. */
  #connectSuspicion(): { afterMs: number; isLost(): Promise<boolean> } | undefined {
    const { probe, environment } = this.#use
    if (probe === undefined) return undefined
    const startedAt = environment.clock.monotonicMs()
    const isLost = async (): Promise<boolean> =>
      this.#pool.waitingCount === 0 && (await probe.isReachable(startedAt))
    return { afterMs: suspicionMs, isLost }
  }

  /** Whether a connection has answered since another one was found to be silent. */
  #isTrusted(client: PgPoolClient): boolean {
    if (this.#silentSince === -Infinity || !this.#seesConnects) return true
    return (this.#answeredAt.get(client) ?? -Infinity) >= this.#silentSince
  }

  /** Takes a connection out of the pool without a polite end, for which a client would wait. */
  #discard(client: PgPoolClient, error?: unknown): void {
    client.on('error', ignore)
    client.release(error instanceof Error ? error : true)
    destroySocket(client)
  }

  /** Puts a connection back into the pool, or discards it if it is broken or in an unknown state. */
  #giveBack(client: PgPoolClient, error?: unknown): void {
    this.#takenCount -= 1
    this.#release(client, error)
    this.#wakeNext()
  }

  /** The same after a failure: what the server has not read of a lost connection takes no effect later. */
  async #giveUp(client: PgPoolClient, error: unknown): Promise<void> {
    this.#giveBack(client, error)
    const answeredAt = this.#answeredAt.get(client)
    if (!(error instanceof DeadlineError && error.isLost) || answeredAt === undefined) return
    await this.#use.probe?.terminate(client.processID, answeredAt)
  }

  #release(client: PgPoolClient, error: unknown): void {
    client.removeListener('error', ignore)
    if (error instanceof DeadlineError) {
      // The cause may have broken other connections too, so those have to answer first.
      this.#silentSince = Math.max(this.#silentSince, this.#takenAt.get(client) ?? -Infinity)
      const { probe } = this.#use
      if (probe !== undefined) probe.silentSince = this.#silentSince
      this.#discard(client, error)
      return
    }
    const isBroken = SluiceError.is(error)
      ? error.code === 'ERR_UNKNOWN_OUTCOME'
      : error !== undefined && breaksConnection(error)
    if (isBroken) {
      client.on('error', ignore)
      client.release(error instanceof Error ? error : true)
      return
    }
    this.#untried.delete(client)
    this.#answeredAt.set(client, this.#use.environment.clock.monotonicMs())
    client.release()
  }

  /**
   * Rolls back after a failure: a connection goes back into the pool only outside of a transaction. An error
   * without an SQLSTATE may be of this process, while the connection is sound: closed without a rollback, it
   * would keep its locks until the server finds out. Over a connection that is lost, a rollback fails at once.
   */
  async #undo(client: PgPoolClient, connection: Connection, error: unknown): Promise<void> {
    const isOfServer = sqlStateOf(error) !== undefined
    if (error instanceof DeadlineError || (isOfServer && breaksConnection(error))) {
      await this.#giveUp(client, error)
      return
    }
    try {
      await connection.script('rollback')
      this.#giveBack(client)
    } catch (failed) {
      this.#giveBack(client, failed instanceof DeadlineError ? failed : new Error('no rollback'))
    }
  }
}
