import { SluiceError } from '@sluice/core'
import type { Environment } from '@sluice/core/driver'
import { arrayLiteral } from '../rows/array-literal.ts'
import { number } from '../rows/columns.ts'
import { inLockOrder } from '../rows/key-order.ts'
import type { StoreTime } from '../rows/store-time.ts'
import type { Row } from './client-shapes.ts'
import type { Connection, Connections, RunOptions } from './connection.ts'
import { isLostRace } from './errors.ts'
import type { Statement, StatementName, Statements } from './statements.ts'

/** How often what lost a race is sent again, at the most. */
const attemptsMax = 10

/** Sends over the connection that listens, if that is possible just now. */
export type OverListener = (
  statement: Statement,
  values: readonly unknown[],
) => Promise<readonly Row[] | undefined>

/** A database that is open: what the verbs speak to. */
export class Store {
  readonly statements: Statements
  readonly time: StoreTime
  readonly #connections: Connections
  readonly #environment: Environment
  readonly #overListener: OverListener
  #isRaising = false

  constructor(
    connections: Connections,
    statements: Statements,
    environment: Environment,
    time: StoreTime,
    overListener: OverListener,
  ) {
    this.#overListener = overListener
    this.#connections = connections
    this.statements = statements
    this.#environment = environment
    this.time = time
  }

  /** Learns the present, before any verb. */
  async start(): Promise<void> {
    const [row] = await this.run('present', [])
    this.time.ahead = number(row?.['ahead'])
    // A server that was set back while no process was connected is behind the last noted present.
    this.time.startAt(Math.max(number(row?.['now']), number(row?.['latest'])))
  }

  /**
   * Tells the server that the present is at least what the monotonic clock says. If that fails, the
   * next answer shows it again.
   */
  async raisePresent(): Promise<void> {
    if (this.#isRaising) return
    this.#isRaising = true
    try {
      const [row] = await this.run('raisePresent', [this.time.expected()])
      this.time.ahead = number(row?.['ahead'])
    } catch {
    } finally {
      this.#isRaising = false
    }
  }

  /** Sends one statement. */
  async run(
    name: StatementName,
    values: readonly unknown[],
    options?: RunOptions,
  ): Promise<readonly Row[]> {
    return await this.#racing(() => this.#connections.run(this.statements[name], values, options))
  }

  /**
   * Sends one statement over the connection that listens, if that is there and free; `undefined` if
   * not, or if it failed: it may have taken effect.
   */
  async runOverListener(
    name: StatementName,
    values: readonly unknown[],
  ): Promise<readonly Row[] | undefined> {
    if (this.#connections.isInsisting) return undefined
    return await this.#overListener(this.statements[name], values)
  }

  /** Does `work` within a transaction; more than once, if it loses races. */
  async transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return await this.#racing(() => this.#connections.transaction(work))
  }

  /** Which of these keys somebody else has locked right now. */
  async locked(
    queue: string,
    keys: readonly string[],
    creates: boolean,
  ): Promise<ReadonlySet<string>> {
    const sorted = arrayLiteral(inLockOrder(keys))
    const rows = await this.run('findLockedKeys', [queue, sorted, creates])
    return new Set(rows.map((row) => String(row['key'])))
  }

  async #racing<T>(attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt()
      } catch (error) {
        if (tries === attemptsMax || !(SluiceError.is(error) && isLostRace(error.cause)))
          throw error
        await pause(this.#environment, this.#environment.random() * 2 ** Math.min(tries, 5))
      }
    }
  }
}

/** Waits, in real time. The process may end meanwhile. */
function pause(environment: Environment, ms: number): Promise<void> {
  return new Promise((resolve) => {
    environment.clock.startTimer(ms, resolve).ref()
  })
}
