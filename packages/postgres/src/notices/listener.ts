import { heartbeatMs } from '@sluice/core'
import type { Environment } from '@sluice/core/driver'
import type { PgListener, Row } from '../connection/client-shapes.ts'
import type { ConnectionProbe } from '../connection/connection-probe.ts'
import { closeMs, DeadlineError, ignore, withDeadline } from '../connection/deadline.ts'
import { destroySocket } from '../connection/destroy-socket.ts'
import { describe, storeError } from '../connection/errors.ts'
import { PgConnection } from '../connection/pg-connection.ts'
import type { Statement } from '../connection/statements.ts'
import { flag, number } from '../rows/columns.ts'
import { quoteIdentifier } from '../schema/schema-name.ts'

/** The dependencies of a listener. */
export interface ListenerUse {
  readonly environment: Environment
  readonly channel: string
  /** Asks the server about this connection when it is silent. */
  readonly probe?: ConnectionProbe | undefined
  /** A new connection, not connected yet. */
  readonly make: () => PgListener
  /** Sends a text to the channel over another connection. */
  readonly send: (payload: string) => Promise<void>
  /** A notice arrived; without a queue, notices may have been missed. */
  readonly onNotice: (queue: string | undefined) => void
  readonly onWarning: (kind: string, message: string, cause: unknown) => void
}

/**
 * How long the connection may be silent before it is asked whether it still listens, in
 * milliseconds: a little longer than a queue is between two ticks, which answer that as well.
 */
const silenceMs = heartbeatMs + 500

/** How long an answer may take, and a notice to arrive, in milliseconds. */
const answerMs = 4_500
const proofMs = 5_000

/** How long to wait before listening is tried again, in milliseconds. */
const reconnectMsMin = 500
const reconnectMsMax = 15_000
const unprovenMs = 60_000

/**
 * The first letter of a notice, and of a text that proves that notices arrive. Processes with other
 * versions of this package listen to the same channel.
 */
const noticeMark = 'q'
export const proofMark = 'p'

/** The payload of the notice about a queue. */
export function noticeOf(queue: string): string {
  return `${noticeMark}${queue}`
}

/** The queue that a payload is a notice about; `undefined` if it is none. */
export function queueOfNotice(payload: string): string | undefined {
  return payload.startsWith(noticeMark) ? payload.slice(1) : undefined
}

/**
 * Receives notices over a connection of its own. Asks it now and then whether it still listens, and
 * replaces it when it is broken. A successful `LISTEN` proves nothing, least of all behind a pooler:
 * so a text is sent over another connection, and has to arrive.
 */
export class Listener {
  readonly #use: ListenerUse
  #isStopped = false
  #isProven = false
  #nonce = 0
  #onProof: ((nonce: string) => void) | undefined
  /** Ends the current wait early. */
  #endWait: () => void = () => {}
  #client: PgListener | undefined
  #isConnected = false
  /** Why the connection is broken, if it is. Its end may follow later. */
  #brokenBy: unknown
  /** Whether a statement is under way on the connection, which takes one at a time. */
  #isBusy = false
  /** The answer to the last statement that was asked. */
  #answer: Promise<readonly Row[]> = Promise.resolve([])
  #answeredAt = -Infinity
  #ended: Promise<void> = Promise.resolve()

  constructor(use: ListenerUse) {
    this.#use = use
  }

  /** Whether notices have been proven to arrive. */
  get isProven(): boolean {
    return this.#isProven
  }

  /** Begins; resolves once the first attempt has shown whether notices arrive. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#ended = this.#keepListening(resolve)
    })
  }

  /**
   * Sends a statement over this connection, whose answer proves that it is alive; `undefined` if there
   * is no connection, or it is busy: nothing was sent. The column `listens` of the answer has to be true.
   */
  async ask(statement: Statement, values: readonly unknown[]): Promise<readonly Row[] | undefined> {
    const client = this.#client
    if (!this.#isProven || client === undefined || this.#isBusy) return undefined
    const { environment, probe } = this.#use
    if (probe !== undefined && this.#answeredAt < probe.silentSince) {
      // The failure that silenced another connection may have silenced this one.
      this.#doubt()
      return undefined
    }
    this.#isBusy = true
    try {
      const use = { environment, timeoutMs: answerMs, probe }
      this.#answer = new PgConnection(client, use, () => true).query(statement, values)
      const rows = await this.#answer
      if (flag(rows[0]?.['listens'])) this.#answeredAt = environment.clock.monotonicMs()
      else this.#doubt()
      return rows
    } catch (error) {
      // A late answer could be taken for that of the next statement.
      if (error instanceof DeadlineError) this.#abandon(client)
      else this.#doubt()
      throw storeError(error, 'sent')
    } finally {
      this.#isBusy = false
    }
  }

  /** Drops a connection that does not answer. */
  #abandon(client: PgListener): void {
    destroySocket(client)
    if (this.#client !== client) return
    this.#client = undefined
    this.#endWait()
  }

  /** Checks the connection at once. */
  #doubt(): void {
    this.#answeredAt = -Infinity
    this.#endWait()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#endWait()
    await this.#drop()
    await this.#ended
  }

  async #keepListening(onTried: () => void): Promise<void> {
    let failures = 0
    while (!this.#isStopped) {
      let waitMs = 0
      try {
        await this.#connect()
        if (await this.#prove()) {
          failures = 0
          onTried()
          // Notices may have been sent before this connection listened.
          this.#use.onNotice(undefined)
          await this.#stayConnected()
        } else if (!this.#isStopped) {
          waitMs = unprovenMs
          this.#use.onWarning('unproven', unprovenText, undefined)
        }
      } catch (error) {
        const message = `listening for notices failed: ${describe(error)}`
        if (!this.#isStopped) this.#use.onWarning('listen', message, error)
      }
      this.#isProven = false
      onTried()
      await this.#drop()
      if (this.#isStopped) return
      failures += 1
      const longest = Math.min(reconnectMsMax, reconnectMsMin * 2 ** failures)
      await this.#wait(Math.max(waitMs, longest * (0.5 + this.#use.environment.random() / 2)))
    }
  }

  async #connect(): Promise<void> {
    const client = this.#use.make()
    this.#client = client
    this.#isConnected = false
    this.#brokenBy = undefined
    // Only of the current connection: events of an earlier one must not end a wait for this one.
    client.on('error', (error) => {
      if (this.#client !== client) return
      this.#brokenBy = error
      this.#endWait()
    })
    client.on('end', () => {
      if (this.#client !== client) return
      this.#client = undefined
      this.#brokenBy ??= new Error('listening ended')
      this.#endWait()
    })
    client.on('notification', ({ payload = '' }) => {
      const queue = queueOfNotice(payload)
      if (queue !== undefined) this.#use.onNotice(queue)
      else if (payload.startsWith(proofMark)) this.#onProof?.(payload.slice(1))
    })
    await this.#timed('connecting', client.connect())
    this.#isConnected = true
    client.unref?.()
    await this.#query(`listen ${quoteIdentifier(this.#use.channel)}`)
  }

  async #prove(): Promise<boolean> {
    const { environment, send } = this.#use
    this.#nonce += 1
    const nonce = `${this.#nonce}-${Math.floor(environment.random() * 2 ** 32)}`
    const came = new Promise<true>((resolve) => {
      this.#onProof = (given) => {
        if (given === nonce) resolve(true)
      }
    })
    // A stop does not wait for a server that is silent, over whichever connection.
    try {
      await Promise.race([send(`${proofMark}${nonce}`), this.#wait(Infinity)])
    } finally {
      this.#endWait()
    }
    if (this.#brokenBy === undefined) {
      this.#isProven = await Promise.race([came, this.#wait(proofMs).then(() => false)])
    }
    // Over a broken connection nothing arrives, which says nothing about the next one.
    if (this.#brokenBy !== undefined && !this.#isStopped) throw this.#brokenBy
    return this.#isProven
  }

  async #stayConnected(): Promise<void> {
    const { clock } = this.#use.environment
    this.#answeredAt = clock.monotonicMs()
    for (;;) {
      await this.#wait(Math.max(0, this.#answeredAt + silenceMs - clock.monotonicMs()))
      if (this.#isStopped || this.#client === undefined) return
      if (this.#answeredAt + silenceMs > clock.monotonicMs()) continue
      if (this.#isBusy) {
        await this.#answer.catch(ignore)
        continue
      }
      const rows = await this.#query(
        `select count(*) as n from pg_catalog.pg_listening_channels() as c(name)
        where c.name = '${this.#use.channel}'`,
      )
      this.#answeredAt = clock.monotonicMs()
      if (number(rows[0]?.['n']) > 0) continue
      await this.#query(`listen ${quoteIdentifier(this.#use.channel)}`)
      this.#use.onNotice(undefined)
    }
  }

  async #query(text: string): Promise<readonly Row[]> {
    if (this.#client === undefined) throw new Error('listening ended')
    this.#isBusy = true
    try {
      const answer = this.#client.query({ text })
      const { rows } = await this.#timed('listening', answer)
      return rows as Row[]
    } finally {
      this.#isBusy = false
    }
  }

  #timed<T>(what: string, answer: Promise<T>, ms = answerMs): Promise<T> {
    return withDeadline(this.#use.environment, ms, what, answer)
  }

  async #drop(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    if (client === undefined) return
    // The client of pg ends at once, also while a statement is under way, which might then be lost.
    const isSilent = await this.#timed('ending', this.#answer, closeMs).then(
      () => false,
      (error) => error instanceof DeadlineError,
    )
    // A client that is silent, or still connecting, may never answer the end.
    if ((isSilent || !this.#isConnected) && destroySocket(client)) return
    await this.#timed('ending', client.end(), closeMs).catch(() => destroySocket(client))
  }

  /** Waits, unless it is stopped or woken. The wait does not keep the process alive. */
  #wait(ms: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = this.#use.environment.clock.startTimer(ms, resolve)
      this.#endWait = () => {
        timer.stop()
        resolve()
      }
    })
  }
}

const unprovenText = 'LISTEN does not work, as behind a pooler in transaction mode; polling instead'
