import { SluiceError } from '@sluice/core'
import type { Environment } from '@sluice/core/driver'
import type { Watch } from '../notices/watch.ts'
import { arrayLiteral } from '../rows/array-literal.ts'
import { number } from '../rows/columns.ts'
import { inLockOrder } from '../rows/key-order.ts'
import type { StoreTime } from '../rows/store-time.ts'
import type { Row } from './client-shapes.ts'
import type { Connection, Connections, RunOptions } from './connection.ts'
import { DeadlineError } from './deadline.ts'
import { repeatableError, sqlStateOf, whileWithoutEffect } from './errors.ts'
import type { StatementName, Statements } from './statements.ts'

/** The statements that only read. */
const reading: ReadonlySet<StatementName> = new Set([
  'present',
  'counts',
  'list',
  'queues',
  'buckets',
  'workers',
  'history',
  'failedRuns',
  'claimAdopt',
  'transferSequences',
])

/** An open database, to which the verbs send their statements. */
export class Store {
  readonly statements: Statements
  readonly time: StoreTime
  readonly #connections: Connections
  readonly #environment: Environment
  readonly #watch: Watch
  #isRaising = false

  constructor(
    connections: Connections,
    statements: Statements,
    environment: Environment,
    time: StoreTime,
    watch: Watch,
  ) {
    this.#watch = watch
    this.#connections = connections
    this.statements = statements
    this.#environment = environment
    this.time = time
  }

  /** Reads the present, before any verb. */
  async start(): Promise<void> {
    const [row] = await this.run('present', [])
    this.time.ahead = number(row?.['ahead'])
    // A server whose wall clock was set back with no process connected is behind the last noted present.
    this.time.startAt(Math.max(number(row?.['now']), number(row?.['latest'])))
  }

  /**
   * Sets the store's time forward to the monotonic clock of this process. If that fails, the next
   * answer calls for it again.
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
  run(
    name: StatementName,
    values: readonly unknown[],
    options?: RunOptions,
  ): Promise<readonly Row[]> {
    const reads = reading.has(name)
    const given = reads ? { ...options, reads } : options
    const send = () =>
      this.#racing(() => this.#connections.run(this.statements[name], values, given))
    // The look for locked keys takes back what it writes.
    return reads || name === 'findLockedKeys' ? read(send) : send()
  }

  /** Sends one statement over the connection that listens; `undefined` if there is none, or it is busy. */
  async runOverListener(
    name: StatementName,
    values: readonly unknown[],
  ): Promise<readonly Row[] | undefined> {
    if (this.#connections.usesTransactions) return undefined
    return await this.#watch.listener?.ask(this.statements[name], values)
  }

  /** Does `work` within a transaction; again, if it loses a race. */
  async transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return await this.#racing(() => this.#connections.transaction(work))
  }

  /** Which of these keys another transaction has locked right now. */
  async locked(
    queue: string,
    keys: readonly string[],
    creates: boolean,
  ): Promise<ReadonlySet<string>> {
    const sorted = arrayLiteral(inLockOrder(keys))
    const rows = await this.run('findLockedKeys', [queue, sorted, creates])
    return new Set(rows.map((row) => String(row['key'])))
  }

  #racing<T>(attempt: () => Promise<T>): Promise<T> {
    return whileWithoutEffect(attempt, async (cause, tries) => {
      // With the isolation of our own transactions, this cannot happen: the default has changed.
      if (sqlStateOf(cause) === '40001') this.#connections.useTransactions()
      await pause(this.#environment, this.#environment.random() * 2 ** Math.min(tries, 5))
    })
  }
}

/**
 * Reads, and once more if the connection breaks before the answer: the outcome is never unknown. Not after a
 * server that was silent until the deadline, which has used up the time of the call.
 */
async function read<T>(send: () => Promise<T>): Promise<T> {
  const attempt = (): Promise<T> =>
    send().catch((error: unknown) => {
      throw repeatableError(error, 'the store was not read')
    })
  return await attempt().catch((error: unknown) => {
    const broken = SluiceError.is(error) ? error.cause : undefined
    if (!SluiceError.is(broken, 'ERR_UNKNOWN_OUTCOME') || isSilence(broken.cause)) throw error
    return attempt()
  })
}

function isSilence(cause: unknown): boolean {
  return cause instanceof DeadlineError && !cause.isLost
}

/** Waits, in real time. */
function pause(environment: Environment, ms: number): Promise<void> {
  return new Promise((resolve) => {
    environment.clock.startTimer(ms, resolve).ref()
  })
}
