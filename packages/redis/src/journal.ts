import type {
  Ask,
  AskReply,
  DueReason,
  Finish,
  FinishReply,
  TransferRow,
} from '@sluice/core/driver'
import { never } from '@sluice/core/driver'

/** The most keys that a journal remembers; then adds wait until replicas have them. */
export const journalKeysMax = 100_000

/** The most bytes of keys and items that it remembers. */
export const journalBytesMax: number = 64 * 1024 * 1024

/** One acknowledged write, until the replicas are known to have it. */
interface Entry {
  /** In the order of the replies; rises. */
  readonly nth: number
  /** The primary that has acknowledged it. */
  readonly primary: string
  /** When the reply came, on the monotonic clock. */
  readonly at: number
  readonly bytes: number
}

interface PromisedRun extends Entry {
  readonly row: TransferRow
}

interface KeptFinish extends Entry {
  readonly finish: Finish
  readonly dueAt: number
}

/** What has to be repeated on a new primary. */
export interface Unconfirmed {
  readonly finishes: readonly { readonly finish: Finish; readonly dueAt: number }[]
  readonly rows: readonly TransferRow[]
  /** The last entry among them. */
  readonly nth: number
}

const nothing = { why: 'add', laterAt: never, laterWhy: 'add', failures: 0, crashes: 0 } as const

function promisedRow(
  key: string,
  item: string | undefined,
  run: Pick<TransferRow, 'dueAt' | 'why' | 'readyAt' | 'seq' | 'priority' | 'askedAt'>,
): TransferRow {
  return { ...nothing, ...run, key, item, failedAt: never, parked: false, lastError: undefined }
}

/**
 * The adds and finishes of one queue that this process was told are done, and that a failover could
 * still lose. After it they are repeated as what was promised: a key is due when the reply said, and a
 * finish is guarded by its token. Repeating one that was not lost changes nothing, except that a key
 * may run once more.
 */
export class Journal {
  readonly #runs: Map<string, PromisedRun> = new Map()
  readonly #finishes: Map<string, KeptFinish> = new Map()
  #nth = 0
  #bytes = 0

  get size(): number {
    return this.#runs.size + this.#finishes.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The number of the newest entry. */
  get nth(): number {
    return this.#nth
  }

  /** Notes the replies to a batch of adds. `lastSeq`: the position of the last one. */
  noteAdds(
    asks: readonly Ask[],
    replies: readonly AskReply[],
    { primary, now, lastSeq, at }: Acknowledged,
  ): void {
    for (const [index, ask] of asks.entries()) {
      const reply = replies[index]
      if (reply === undefined || reply.outcome === 'full' || reply.dueAt === never) continue
      const { key, item, priority, failed = false } = ask
      const { dueAt } = reply
      const why: DueReason = dueAt <= now ? 'add' : failed ? 'backoff' : 'delay'
      const seq = lastSeq - asks.length + index + 1
      const row = promisedRow(key, item, {
        dueAt,
        why,
        readyAt: dueAt,
        seq,
        priority,
        askedAt: now,
      })
      // The run before it, if that is due later, was promised as well.
      const before = this.#runs.get(key)?.row
      const second = before !== undefined && before.dueAt > dueAt ? before : undefined
      this.#keepRun(
        second === undefined ? row : { ...row, laterAt: second.dueAt, laterWhy: second.why },
        primary,
        at,
      )
    }
  }

  /** Notes the replies to a batch of finishes. */
  noteFinishes(
    finishes: readonly Finish[],
    replies: readonly FinishReply[],
    { primary, now, lastSeq, at }: Acknowledged,
  ): void {
    for (const [index, finish] of finishes.entries()) {
      const reply = replies[index]
      if (reply === undefined || reply.outcome === 'lost') continue
      const { key } = finish
      const { dueAt } = reply
      this.#strikeFinish(key)
      this.#finishes.set(key, { ...this.#entry(primary, at, 2 * key.length), finish, dueAt })
      const before = this.#runs.get(key)?.row
      this.#strikeRun(key)
      // The key was finished after it was added. What it still owes is what the reply says.
      if (dueAt === never || before === undefined) continue
      const why: DueReason = dueAt <= now ? 'add' : 'backoff'
      const run = { dueAt, why, readyAt: dueAt, seq: lastSeq }
      this.#keepRun({ ...before, ...run, laterAt: never }, primary, at)
    }
  }

  /** These keys were cancelled or removed by this process. */
  strike(keys: readonly string[]): void {
    for (const key of keys) {
      this.#strikeRun(key)
      this.#strikeFinish(key)
    }
  }

  /** Every key was removed. */
  strikeAll(): void {
    this.#runs.clear()
    this.#finishes.clear()
    this.#bytes = 0
  }

  /** The replicas of `primary` have everything up to this entry. */
  confirmed(primary: string, nth: number): void {
    this.#drop((entry) => entry.primary === primary && entry.nth <= nth)
  }

  /** For a store without replicas: entries from before `at` are on disk by now. */
  expired(at: number): void {
    this.#drop((entry) => entry.at < at)
  }

  /** What was acknowledged by another primary than `primary`. */
  unconfirmed(primary: string): Unconfirmed {
    const isOther = (entry: Entry): boolean => entry.primary !== primary
    return {
      finishes: [...this.#finishes.values()].filter(isOther),
      rows: [...this.#runs.values()].filter(isOther).map(({ row }) => row),
      nth: this.#nth,
    }
  }

  /** Everything up to this entry has been repeated on `primary`, whose replicas may not have it yet. */
  repeated(primary: string, nth: number, at: number): void {
    for (const entries of [this.#runs, this.#finishes] as Map<string, Entry>[]) {
      for (const [key, entry] of entries) {
        if (entry.primary === primary || entry.nth > nth) continue
        entries.set(key, { ...entry, primary, at, nth: this.#nth + 1 })
      }
    }
    this.#nth += 1
  }

  #entry(primary: string, at: number, bytes: number): Entry {
    this.#nth += 1
    this.#bytes += bytes
    return { nth: this.#nth, primary, at, bytes }
  }

  #keepRun(row: TransferRow, primary: string, at: number): void {
    this.#strikeRun(row.key)
    const bytes = 2 * (row.key.length + (row.item?.length ?? 0))
    this.#runs.set(row.key, { ...this.#entry(primary, at, bytes), row })
  }

  #strikeRun(key: string): void {
    this.#bytes -= this.#runs.get(key)?.bytes ?? 0
    this.#runs.delete(key)
  }

  #strikeFinish(key: string): void {
    this.#bytes -= this.#finishes.get(key)?.bytes ?? 0
    this.#finishes.delete(key)
  }

  #drop(isDone: (entry: Entry) => boolean): void {
    for (const entries of [this.#runs, this.#finishes] as Map<string, Entry>[]) {
      for (const [key, entry] of entries) {
        if (!isDone(entry)) continue
        this.#bytes -= entry.bytes
        entries.delete(key)
      }
    }
  }
}

/** Who acknowledged a batch, and when. */
export interface Acknowledged {
  readonly primary: string
  /** The store's time. */
  readonly now: number
  /** The last position in the order that was drawn by then. */
  readonly lastSeq: number
  /** On the monotonic clock. */
  readonly at: number
}
