import { SluiceError } from '@sluice/core'
import type { PgClient, PgPool, PgPoolClient, Row } from './client-shapes.ts'
import { cut } from './cut.ts'
import { DeadlineError, withDeadline } from './deadline.ts'
import type { Machine } from './machine.ts'
import { beginText, type Session, type Sessions } from './session.ts'
import type { Statement } from './statement.ts'
import { breaksConnection, isForeignPrepared, storeError } from './store-error.ts'

/** How a pool is used. */
export interface PoolUse {
  readonly machine: Machine
  /** How long one statement, and the wait for a connection, may take. */
  readonly timeoutMs: number
  /** Ends the pool; only if it is ours. */
  readonly end?: () => Promise<void>
}

/** Columns come as the text they are sent as, whatever parsers the program has set for itself. */
const asText = { getTypeParser: () => (text: string) => text }

function ignore(): void {}

/** One client of `pg`, ours for the moment. */
export class PgSession implements Session {
  readonly #client: PgClient
  readonly #use: PoolUse
  readonly #prepares: () => boolean

  constructor(client: PgClient, use: PoolUse, prepares: () => boolean) {
    this.#client = client
    this.#use = use
    this.#prepares = prepares
  }

  get backendId(): number | undefined {
    return this.#client.processID ?? undefined
  }

  async query(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    const { name, text } = statement
    const query = { text, values: [...values], types: asText, ...this.#named(name) }
    return (await this.#timed(this.#client.query(query))).rows as Row[]
  }

  async script(text: string): Promise<void> {
    await this.#timed(this.#client.query({ text }))
  }

  #named(name: string): { name?: string } {
    return name !== '' && this.#prepares() ? { name } : {}
  }

  #timed<T>(answer: Promise<T>): Promise<T> {
    const { machine, timeoutMs } = this.#use
    return withDeadline(machine, timeoutMs, 'a statement', answer)
  }
}

/** Connections from a pool of `pg`. */
export class PoolSessions implements Sessions {
  readonly #pool: PgPool
  readonly #use: PoolUse
  #insists = false
  #prepares = true

  constructor(pool: PgPool, use: PoolUse) {
    this.#pool = pool
    this.#use = use
    // Without a listener, the death of an idle connection ends the process.
    pool.on('error', ignore)
  }

  async run(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    if (this.#insists) return await this.transaction((session) => session.query(statement, values))
    return await this.connected((session) => session.query(statement, values))
  }

  async connected<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const client = await this.#take()
    try {
      const answer = await work(new PgSession(client, this.#use, () => this.#prepares))
      this.#giveBack(client)
      return answer
    } catch (error) {
      this.#giveBack(client, error)
      if (isForeignPrepared(error) && this.#prepares) {
        this.stopPreparing()
        return await this.connected(work)
      }
      throw storeError(error, 'sent')
    }
  }

  async transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const client = await this.#take()
    const session = new PgSession(client, this.#use, () => this.#prepares)
    let isCommitting = false
    try {
      await session.script(beginText)
      const answer = await work(session)
      isCommitting = true
      await session.script('commit')
      this.#giveBack(client)
      return answer
    } catch (error) {
      await this.#undo(client, session, error)
      if (isForeignPrepared(error) && this.#prepares) {
        this.stopPreparing()
        return await this.transaction(work)
      }
      // Before the commit was sent there is no doubt: nothing was done.
      throw storeError(error, isCommitting ? 'sent' : 'unsent')
    }
  }

  get isInsisting(): boolean {
    return this.#insists
  }

  insist(): void {
    this.#insists = true
  }

  stopPreparing(): void {
    this.#prepares = false
  }

  async close(): Promise<void> {
    const { end, machine, timeoutMs } = this.#use
    if (end !== undefined) {
      await withDeadline(machine, timeoutMs, 'closing the pool', end()).catch(ignore)
    }
    // A pool that is ours may lose connections while it ends; nobody else listens.
    else this.#pool.removeListener('error', ignore)
  }

  async #take(): Promise<PgPoolClient> {
    const { machine, timeoutMs } = this.#use
    try {
      const client = await withDeadline(
        machine,
        timeoutMs,
        'the wait for a connection',
        this.#pool.connect(),
        (late) => late.release(),
      )
      client.on('error', ignore)
      return client
    } catch (error) {
      if (error instanceof DeadlineError) {
        throw new SluiceError('ERR_TIMEOUT', `nothing was sent: ${error.message}`, {
          cause: error,
          retryable: true,
        })
      }
      throw storeError(error, 'unsent')
    }
  }

  /** Back into the pool, or out of it if it is broken or nobody knows what it is doing. */
  #giveBack(client: PgPoolClient, error?: unknown): void {
    client.removeListener('error', ignore)
    if (error === undefined || (!SluiceError.is(error) && !breaksConnection(error))) {
      client.release()
      return
    }
    if (SluiceError.is(error) && error.code !== 'ERR_UNKNOWN_OUTCOME') {
      client.release()
      return
    }
    client.on('error', ignore)
    client.release(error instanceof Error ? error : true)
    if (error instanceof DeadlineError) cut(client)
  }

  /** After a failure within a transaction: a connection goes back only outside of one. */
  async #undo(client: PgPoolClient, session: Session, error: unknown): Promise<void> {
    if (!SluiceError.is(error) && breaksConnection(error)) {
      this.#giveBack(client, error)
      return
    }
    try {
      await session.script('rollback')
      this.#giveBack(client)
    } catch (failed) {
      this.#giveBack(client, failed instanceof DeadlineError ? failed : new Error('no rollback'))
    }
  }
}
