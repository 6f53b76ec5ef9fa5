import { type Awaitable, type Clock, SluiceError } from '@sluice/core/driver'
import { StoreRow } from '../rows/store-row.ts'
import { StoreTime } from '../rows/store-time.ts'
import { BusyRetry } from './busy-retry.ts'
import { type DatabaseSource, findingsIn, isInTransaction } from './database-source.ts'
import type { SqliteEnvironment } from './environment.ts'
import { type ErrorKind, errorKindOf, type Stage, storeError } from './errors.ts'
import { LogGuard } from './log-guard.ts'
import type { Statements } from './statements.ts'
import { WakeSignal } from './wake-signal.ts'

/** The work of a transaction; the store's time is that at which it has the lock. */
export type Work<T> = (statements: Statements, store: StoreRow) => T

/** How often to check whether the file is still the one that was opened, in milliseconds. */
const lookAtFileMs = 1_000

/**
 * The one connection of this process to a store, opened when it is first needed, and again after it
 * had to be closed.
 */
export class Connection {
  readonly wakeSignal: WakeSignal
  readonly #source: DatabaseSource
  readonly #environment: SqliteEnvironment
  readonly #thread: string
  readonly #retry: BusyRetry
  readonly #logGuard: LogGuard
  readonly #times = new Map<Clock, StoreTime>()
  #lookedAtFileMs = -Infinity
  #statements: Statements | undefined
  /** How the file is examined when it is opened next. */
  #check: 'quick_check' | 'integrity_check' | undefined

  constructor(source: DatabaseSource, environment: SqliteEnvironment, lockWaitMs: number) {
    this.#source = source
    this.#environment = environment
    this.#thread = environment.thread()
    this.#retry = new BusyRetry(environment, lockWaitMs)
    this.#logGuard = new LogGuard(source.file, environment)
    this.wakeSignal = new WakeSignal(environment.clock, {
      version: () => {
        // A step back is distinguished from elapsed time by reading the clock often.
        for (const time of this.#times.values()) time.read()
        return this.#statements && numberIn(this.#statements.dataVersion.get(), 'data_version')
      },
      last: () => this.#statements && numberIn(this.#statements.wakeSignalLast.get(), 'last'),
    })
  }

  /** What the store is called in messages. */
  get file(): string {
    return this.#source.file
  }

  /** The store's time by `clock`. */
  time(clock: Clock): StoreTime {
    const known = this.#times.get(clock)
    if (known !== undefined) return known
    const time = new StoreTime(clock)
    this.#times.set(clock, time)
    return time
  }

  /** Opens the store now, rather than with the first operation. */
  open(clock: Clock): Awaitable<void> {
    return this.#retry.run(() => {
      this.#opened(clock)
    })
  }

  close(): void {
    this.#retry.giveUp(
      new SluiceError('ERR_STORE_BUSY', `${this.file} was closed while it was locked`, {
        retryable: true,
      }),
    )
    this.#drop()
  }

  /** Does `work` in a transaction that writes; `queue` is the one that it is about, if it is about one. */
  write<T>(clock: Clock, queue: string | null, work: Work<T>): Awaitable<T> {
    return this.#retry.run(() => {
      try {
        return this.#transaction(clock, queue, work, true)
      } catch (error) {
        // It has changed nothing. The log may have room left that SQLite uses only after a checkpoint.
        const isFull = SluiceError.is(error, 'ERR_STORE_FULL')
        if (!isFull || !this.#logGuard.makesRoom(this.#statements?.database)) throw error
        return this.#transaction(clock, queue, work, true)
      }
    })
  }

  /** Does `work` in a transaction that only reads. */
  read<T>(clock: Clock, queue: string | null, work: Work<T>): Awaitable<T> {
    // A writer does not block readers, so they need not queue behind blocked operations.
    return this.#retry.run(() => this.#transaction(clock, queue, work, false), true)
  }

  /** Reads the file outside of a transaction, in which damage would fail the whole examination. */
  look<T>(clock: Clock, work: (statements: Statements) => T): Awaitable<T> {
    const attempt = (): T => {
      try {
        return work(this.#opened(clock))
      } catch (error) {
        throw storeError(error, 'before-commit', this.file)
      }
    }
    return this.#retry.run(attempt, true)
  }

  /**
   * Closes the connection if its file was moved, emptied, removed or replaced, or that of its locks: SQLite would
   * continue to write to a file that no other process finds, or at the same time as another process. The
   * check takes a few microseconds, so it is not made for every transaction.
   */
  #checkFile(): void {
    const now = this.#environment.clock.monotonicMs()
    if (now - this.#lookedAtFileMs < lookAtFileMs) return
    this.#checkReplaced('ERR_STORE', '')
    this.#lookedAtFileMs = now
  }

  #checkReplaced(code: 'ERR_STORE' | 'ERR_UNKNOWN_OUTCOME', effect: string): void {
    if (!this.#source.isReplaced()) return
    this.#drop()
    throw new SluiceError(
      code,
      `${this.file}, or its -wal or -shm, was moved, emptied, removed or replaced while it was in use${effect}`,
      { retryable: code === 'ERR_STORE' },
    )
  }

  #transaction<T>(clock: Clock, queue: string | null, work: Work<T>, writes: boolean): T {
    const statements = this.#opened(clock)
    let stage: Stage = 'before-commit'
    try {
      this.#checkFile()
      this.#source.checkFree()
      if (writes) statements.begin.run()
      else statements.beginRead.run()
      let value: T
      try {
        // Read under the lock: the present is not that of when the waiting for it began.
        const store = new StoreRow(statements, this.time(clock), queue)
        value = work(statements, store)
        if (writes) {
          store.save()
          stage = 'commit'
        }
        statements.commit.run()
      } catch (error) {
        this.#rollBack(statements)
        throw error
      }
      if (writes && this.#logGuard.committed(statements.database)) {
        this.#checkReplaced('ERR_UNKNOWN_OUTCOME', '; the outcome of the last commit is unknown')
      }
      return value
    } catch (error) {
      if (this.#afterError(error) === 'damaged' && stage === 'before-commit') {
        // SQLite says this also of a page that the system could not read.
        this.#opened(clock)
        stage = 'examined'
      }
      throw storeError(error, stage, this.file)
    }
  }

  #afterError(error: unknown): ErrorKind | undefined {
    if (SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')) this.#drop()
    const trouble = errorKindOf(error)
    if (trouble !== 'input-output' && trouble !== 'damaged') return undefined
    // The cache of this connection may differ from the file. The next operation opens the file
    // again and checks its integrity.
    // An index that disagrees with its table is found by the longer examination only.
    this.#check = trouble === 'damaged' ? 'integrity_check' : 'quick_check'
    this.#drop()
    return trouble
  }

  #rollBack(statements: Statements): void {
    try {
      statements.rollback.run()
    } catch {
      // Some errors have already ended the transaction. If not, no other can begin here.
      if (isInTransaction(statements.database)) this.#drop('abandon')
    }
  }

  #drop(how: 'close' | 'abandon' = 'close'): void {
    const statements = this.#statements
    this.#statements = undefined
    this.wakeSignal.connectionLost()
    this.#logGuard.closed()
    if (statements === undefined) return
    try {
      this.#source[how](statements)
    } catch {
      // Nothing more can be done about it.
    }
  }

  #opened(clock: Clock): Statements {
    if (this.#environment.thread() !== this.#thread) {
      throw new SluiceError(
        'ERR_STORE',
        `${this.file} was opened in another process or thread; open it in this one`,
      )
    }
    return this.#statements ?? this.#open(clock)
  }

  #open(clock: Clock): Statements {
    try {
      const statements = this.#source.open(clock.now())
      this.#statements = statements
      this.#logGuard.opened()
      if (this.#check !== undefined) {
        const [finding] = findingsIn(statements.database, this.#check)
        if (finding !== undefined) {
          throw new SluiceError('ERR_STORE_DAMAGED', `${this.file} is damaged: ${finding}`)
        }
        this.#check = undefined
      }
      return statements
    } catch (error) {
      this.#drop()
      if (errorKindOf(error) === 'damaged' && this.#check === undefined) {
        this.#check = 'integrity_check'
        return this.#open(clock)
      }
      throw storeError(error, 'opening', this.file)
    }
  }
}

function numberIn(row: unknown, name: string): number | undefined {
  return (row as Readonly<Record<string, number>> | undefined)?.[name]
}
