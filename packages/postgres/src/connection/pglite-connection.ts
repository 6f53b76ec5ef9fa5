import type { PgliteLike, PgliteTransaction, Row } from './client-shapes.ts'
import type { Session, Sessions } from './connection.ts'
import { withDeadline } from './deadline.ts'
import { storeError } from './errors.ts'
import type { PoolUse } from './pool-connections.ts'
import type { Statement } from './statements.ts'

/** PGlite, or a transaction of it, as a session. */
export class PgliteSession implements Session {
  readonly #client: PgliteTransaction
  readonly #use: PoolUse

  constructor(client: PgliteTransaction, use: PoolUse) {
    this.#client = client
    this.#use = use
  }

  async query({ text }: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.#timed(this.#client.query(text, [...values]))).rows as Row[]
  }

  async script(text: string): Promise<void> {
    await this.#timed(this.#client.exec(text))
  }

  #timed<T>(answer: Promise<T>): Promise<T> {
    const { machine, timeoutMs } = this.#use
    return withDeadline(machine, timeoutMs, 'a statement', answer)
  }
}

/** The only connection there is. PGlite lines up those who want it. */
export class SingleSession implements Sessions {
  readonly #client: PgliteLike
  readonly #use: PoolUse

  constructor(client: PgliteLike, use: PoolUse) {
    this.#client = client
    this.#use = use
  }

  // There is no network in between, so no statement needs a shorter deadline than others.
  async run(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    return await this.connected((session) => session.query(statement, values))
  }

  async connected<T>(work: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await work(new PgliteSession(this.#client, this.#use))
    } catch (error) {
      throw storeError(error, 'sent')
    }
  }

  async transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    let isCommitting = false
    try {
      return await this.#client.transaction(async (transaction) => {
        const session = new PgliteSession(transaction, this.#use)
        await session.script(
          'set transaction isolation level read committed; set local extra_float_digits = 1',
        )
        const answer = await work(session)
        isCommitting = true
        return answer
      })
    } catch (error) {
      throw storeError(error, isCommitting ? 'sent' : 'unsent')
    }
  }

  readonly isInsisting = false

  insist(): void {}

  stopPreparing(): void {}

  async close(): Promise<void> {
    await this.#use.end?.()
  }
}
