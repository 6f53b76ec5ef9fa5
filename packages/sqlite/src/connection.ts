import { type Awaitable, type EpochMs, SluiceError } from '@sluice/core'
import { BusyRetry } from './busy-retry.ts'
import { ChangeWatch } from './change-watch.ts'
import { LogGuard } from './log-guard.ts'
import type { Machine } from './machine.ts'
import type { Session } from './session.ts'
import { findingsIn, type SessionSource } from './session-source.ts'
import { type Stage, storeError, troubleOf } from './sqlite-error.ts'

/** What is done in a transaction, at the instant at which it has the lock. */
export type Work<T> = (session: Session, now: EpochMs) => T

/**
 * The one connection of this process to a store, opened when it is first needed, and again after it
 * had to be given up.
 */
export class Connection {
  readonly changes: ChangeWatch
  readonly #source: SessionSource
  readonly #machine: Machine
  readonly #place: string
  readonly #retry: BusyRetry
  readonly #logGuard: LogGuard
  #session: Session | undefined
  #mustCheck = false
  #isClosed = false

  constructor(source: SessionSource, machine: Machine, lockWaitMs: number) {
    this.#source = source
    this.#machine = machine
    this.#place = machine.place()
    this.#retry = new BusyRetry(machine, lockWaitMs)
    this.#logGuard = new LogGuard(source.file, machine)
    this.changes = new ChangeWatch(machine.clock, () => this.#session?.dataVersion.get())
  }

  /** What the store is called in messages. */
  get file(): string {
    return this.#source.file
  }

  /** Opens the store now, rather than with the first operation. */
  open(now: () => EpochMs): Awaitable<void> {
    return this.#retry.run(() => {
      this.#opened(now())
    })
  }

  close(): void {
    this.#isClosed = true
    this.changes.stop()
    this.#retry.giveUp(
      new SluiceError('ERR_STORE_BUSY', `${this.file} was closed while it was locked`, {
        retryable: true,
      }),
    )
    this.#drop()
  }

  /** Does `work` in a transaction that writes. */
  write<T>(now: () => EpochMs, work: Work<T>): Awaitable<T> {
    return this.#retry.run(() => this.#transaction(now, work, true))
  }

  /** Does `work` in a transaction that only reads. */
  read<T>(now: () => EpochMs, work: Work<T>): Awaitable<T> {
    // Readers are not kept out by a writer, so they need not wait behind those who are.
    return this.#retry.overtake(() => this.#transaction(now, work, false))
  }

  /** Looks at the file itself, past transactions: what is damaged fails in none of its own. */
  look<T>(now: () => EpochMs, work: Work<T>): Awaitable<T> {
    return this.#retry.overtake(() => {
      try {
        return work(this.#opened(now()), now())
      } catch (error) {
        throw storeError(error, 'before-commit', this.file)
      }
    })
  }

  /**
   * Gives the connection up if its file was moved, removed or replaced: SQLite would go on writing
   * to a file that nobody finds any more.
   */
  checkFile(): void {
    if (this.#session === undefined || !this.#source.isReplaced()) return
    this.#drop()
    throw new SluiceError(
      'ERR_STORE',
      `${this.file} was moved, removed or replaced while it was in use`,
      { retryable: true },
    )
  }

  #transaction<T>(now: () => EpochMs, work: Work<T>, writes: boolean): T {
    const session = this.#opened(now())
    let stage: Stage = 'before-commit'
    try {
      if (this.#source.isTaken()) throw this.#takenError()
      if (writes) session.begin.run()
      else session.beginRead.run()
      let value: T
      try {
        // Now is the present of whoever has the lock, not of when the waiting for it began.
        value = work(session, now())
        if (writes) stage = 'commit'
        session.commit.run()
      } catch (error) {
        rollBack(session)
        throw error
      }
      if (writes) this.#logGuard.committed(session.database)
      return value
    } catch (error) {
      this.#afterTrouble(error)
      throw storeError(error, stage, this.file)
    }
  }

  #takenError(): SluiceError {
    const message = `the database given as exclusive is in a transaction of somebody else's`
    return new SluiceError('ERR_STORE_BUSY', message, { retryable: true })
  }

  #afterTrouble(error: unknown): void {
    const trouble = troubleOf(error)
    if (trouble !== 'input-output' && trouble !== 'damaged') return
    // What this connection believes to be in the file may not be there. The next operation opens it
    // anew, and looks whether it is whole.
    this.#mustCheck = true
    this.#drop()
  }

  #drop(): void {
    const session = this.#session
    this.#session = undefined
    if (session === undefined) return
    try {
      this.#source.close(session)
    } catch {
      // Nothing more can be done with it.
    }
  }

  #opened(now: EpochMs): Session {
    if (this.#machine.place() !== this.#place) {
      throw new SluiceError(
        'ERR_STORE',
        `${this.file} was opened in another process or thread; open it anew in this one`,
      )
    }
    if (this.#isClosed) throw new SluiceError('ERR_CLOSED', `${this.file} is closed`)
    this.#session ??= this.#open(now)
    return this.#session
  }

  #open(now: EpochMs): Session {
    try {
      const session = this.#source.open(now)
      if (!this.#mustCheck) return session
      const [finding] = findingsIn(session.database, 'quick_check(1)')
      if (finding === undefined) {
        this.#mustCheck = false
        return session
      }
      this.#source.close(session)
      throw new SluiceError('ERR_STORE_DAMAGED', `${this.file} is damaged: ${finding}`)
    } catch (error) {
      throw storeError(error, 'opening', this.file)
    }
  }
}

function rollBack(session: Session): void {
  try {
    session.rollback.run()
  } catch {
    // Some errors have ended the transaction already.
  }
}
