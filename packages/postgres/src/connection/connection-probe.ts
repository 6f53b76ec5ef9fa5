import type { Environment } from '@sluice/core/driver'
import { number } from '../rows/columns.ts'
import type { PgListener, Row } from './client-shapes.ts'
import { ignore, withDeadline } from './deadline.ts'
import { destroySocket } from './destroy-socket.ts'

/** How long a server may be silent before another connection asks what it is doing, in milliseconds. */
export const suspicionMs = 1_000

/** How long such a question may take, and how soon the next one may follow, in milliseconds. */
const probeMs = 1_000
const answeredRestMs = 2_000

/** How much later than a statement a question has to be, so that the statement has arrived. */
const arrivalMs = 500

/** The processes of the server that run a statement, or may: a hidden state is null. */
const activeText = `select pid from pg_catalog.pg_stat_activity where state is null
  or state not in ('idle', 'idle in transaction', 'idle in transaction (aborted)')`

/**
 * Ends a process, and waits until it is gone. One that does not run takes the signal before it reads what was
 * sent to it. A younger process has the number of one that has ended.
 */
const terminateText = `select pg_terminate_backend(pid, 250) from pg_catalog.pg_stat_activity
  where pid = $1 and backend_start < clock_timestamp() - $2 * interval '1 ms'`

interface Probe {
  readonly startedAt: number
  /** The processes that run a statement; undefined if the server did not answer. */
  readonly active: Promise<ReadonlySet<number> | undefined>
  /** The least time until the next probe: a server that answers may just be slow. */
  restMs: number
}

/**
 * Tells a broken connection from a slow statement: asks the server, over a new connection, whether the
 * process of the old one runs a statement.
 */
export class ConnectionProbe {
  readonly #environment: Environment
  readonly #make: () => PgListener
  #isTrusted = false
  #last: Probe | undefined
  /** When the last connection was in use that fell silent; others have to answer after that. */
  silentSince: number = -Infinity

  constructor(environment: Environment, make: () => PgListener) {
    this.#environment = environment
    this.#make = make
  }

  /** The process numbers of connections are those of the server: there is no pooler in between. */
  trust(): void {
    this.#isTrusted = true
  }

  /** Whether the process is known to run no statement that was sent by then. */
  async isDone(processId: number | null | undefined, sentAt: number): Promise<boolean> {
    if (!this.#isTrusted || processId === null || processId === undefined) return false
    const active = await this.#probe(sentAt)
    return this.#isTrusted && active !== undefined && !active.has(processId)
  }

  /** Whether the server has answered over a connection that was opened later. */
  async isReachable(sentAt: number): Promise<boolean> {
    return (await this.#probe(sentAt)) !== undefined
  }

  /**
   * Ends the process of a connection that was found to be silent, and that answered at `answeredAt`: a statement
   * that it has not read takes no effect later. If that cannot be asked for, it may.
   */
  async terminate(processId: number | null | undefined, answeredAt: number): Promise<void> {
    if (!this.#isTrusted) return
    const silentMs = this.#environment.clock.monotonicMs() - answeredAt
    await this.#ask(terminateText, [processId, silentMs]).catch(ignore)
  }

  async #probe(sentAt: number): Promise<ReadonlySet<number> | undefined> {
    const now = this.#environment.clock.monotonicMs()
    const last = this.#last
    if (last !== undefined) {
      const isLater = last.startedAt > sentAt + arrivalMs
      const restMs = isLater ? last.restMs : probeMs
      if (now - last.startedAt < restMs) return isLater ? await last.active : undefined
    }
    const probe: Probe = {
      startedAt: now,
      restMs: probeMs,
      active: this.#active().catch(() => undefined),
    }
    this.#last = probe
    const active = await probe.active
    if (active !== undefined) probe.restMs = answeredRestMs
    return active
  }

  async #active(): Promise<ReadonlySet<number>> {
    const client = this.#make()
    const rows = await this.#ask(activeText, [], client)
    const active = new Set(rows.map((row) => number(row['pid'])))
    // The question is itself a statement that runs. If its process has another number, there is a pooler by now.
    if (!active.has(client.processID ?? 0)) this.#isTrusted = false
    return active
  }

  async #ask(text: string, values: readonly unknown[], client = this.#make()): Promise<Row[]> {
    client.on('error', ignore)
    const asking = async (): Promise<Row[]> => {
      await client.connect()
      return (await client.query({ text, values })).rows as Row[]
    }
    try {
      const rows = await withDeadline(this.#environment, probeMs, 'asking the server', asking())
      client.end().catch(ignore)
      return rows
    } catch (error) {
      destroySocket(client)
      throw error
    }
  }
}
