import {
  type Ask,
  type AskReply,
  type Dedupe,
  type DueReason,
  type EpochMs,
  type Finish,
  type FinishReply,
  never,
  type TransferRow,
  transitions,
} from '@sluice/core/driver'

/**
 * The most adds that a journal remembers; then adds wait until replicas have them. And the most finishes;
 * then the oldest are not repeated.
 */
const journalKeysMax = 100_000

/** The most bytes of keys and items that it remembers, and of finishes. */
const journalBytesMax = 64 * 1024 * 1024

/** One acknowledged write, until the replicas are known to have it. */
interface Entry {
  /** In the order of the replies; rises. */
  nth: number
  /** The primary that has acknowledged it. */
  primary: string
  /** The one that still had the slot by the table of slots, as while a slot moves. */
  tabled: string | undefined
  /** When the reply came, on the monotonic clock. */
  at: number
  /** The last position in the order that was drawn by then: a primary that has it has the write, too. */
  lastSeq: number
  /** The id of the process that drew it. */
  by: string
  readonly bytes: number
}

/** A pending run, and one after it if `laterAt` is an instant. */
interface KeptRun extends Entry {
  readonly key: string
  readonly item: string | undefined
  readonly dueAt: EpochMs
  readonly why: DueReason
  readonly laterAt: EpochMs
  readonly laterWhy: DueReason
  readonly seq: number
  readonly priority: number
  readonly askedAt: EpochMs
  trace: string | undefined
}

interface KeptFinish extends Entry {
  readonly finish: Finish
  /** When the key is due again, as the reply said; undefined if there was none. */
  readonly dueAt: EpochMs | undefined
}

/** A run that was promised. */
export interface Promised {
  readonly row: TransferRow
  readonly lastSeq: number
  readonly by: string
}

/** The writes that have to be repeated on a new primary. */
export interface Unconfirmed {
  readonly finishes: readonly Pick<KeptFinish, 'finish' | 'dueAt'>[]
  readonly runs: readonly Promised[]
  /** The last entry among them. */
  readonly nth: number
}

/** Whether an entry need not be repeated on a primary: a slot that moves from it takes every write along. */
function isOf({ primary, tabled }: Entry, one: string): boolean {
  return primary === one || tabled === one
}

function promisedOf(run: KeptRun): Promised {
  const { key, item, dueAt, why, laterAt, laterWhy, seq, priority, askedAt, trace } = run
  const { lastSeq, by } = run
  const due = { dueAt, why, laterAt, laterWhy, readyAt: dueAt, seq, priority, askedAt, trace }
  const none = { failures: 0, crashes: 0, failedAt: never, parked: false, lastError: undefined }
  return { row: { key, item, ...due, ...none }, lastSeq, by }
}

/**
 * The adds and finishes of one queue that this process was told are done, and that a failover could
 * still lose. After it they are repeated as what was promised: a key is due when the reply said, and a
 * finish is guarded by its token. Repeating one that was not lost changes nothing, except that a key
 * may run once more.
 */
export class Journal {
  readonly #runs: Map<string, KeptRun> = new Map()
  /** By token: of several finishes of a key, a new primary may know any of the claims. */
  readonly #finishes: Map<number, KeptFinish> = new Map()
  #nth = 0
  #runBytes = 0
  #finishBytes = 0
  /** The newest entry when replicas were last asked. */
  asked = 0

  get isEmpty(): boolean {
    return this.#runs.size + this.#finishes.size === 0
  }

  /** Whether it holds as many adds as it may. */
  get isFull(): boolean {
    return this.#runs.size >= journalKeysMax || this.#runBytes >= journalBytesMax
  }

  /** The number of the newest entry. */
  get nth(): number {
    return this.#nth
  }

  /** Notes the replies to a batch of adds. */
  noteAdds(
    asks: readonly Ask[],
    replies: readonly AskReply[],
    when: Acknowledged,
    dedupe: Dedupe = 'client-go',
  ): void {
    const { now, lastSeq, primary, at, by } = when
    for (let index = 0; index < asks.length; index += 1) {
      const { key, item, priority: asked, failed = false, delayMs, trace } = asks[index]!
      const reply = replies[index]
      if (reply === undefined || reply.outcome === 'full' || reply.dueAt === never) continue
      const { dueAt, plannedMs = delayMs } = reply
      const before = this.#runs.get(key)
      if (before !== undefined && before.dueAt === dueAt && reply.outcome === 'unchanged') {
        // A pending key that is added again and again is one entry.
        if (item === before.item && primary === before.primary && !(plannedMs > 0)) {
          this.#nth += 1
          before.nth = this.#nth
          before.lastSeq = lastSeq
          before.by = by
          before.at = at
          before.trace = transitions.mergeTraces(before.trace, trace)
          continue
        }
      }
      const later = failed ? 'backoff' : 'delay'
      const why: DueReason = dueAt <= now ? 'add' : later
      // A key that is due keeps a delayed run as its second, the earliest of several.
      const isSecond = plannedMs > 0 && dueAt <= now && dedupe === 'client-go'
      const secondAt = reply.outcome === 'added' ? never : (before?.laterAt ?? never)
      const keepsSecond = secondAt > now && secondAt <= now + plannedMs
      // Before its time, a delayed run is still pending, and an add of now joins it.
      const isDelayed = before !== undefined && before.dueAt > now
      const isNew = reply.outcome === 'added' && !isSecond && !isDelayed
      let [laterAt, laterWhy]: [EpochMs, DueReason] = [never, 'add']
      if (before !== undefined && before.dueAt > dueAt) {
        // The run before it, if that is due later, was promised as well.
        laterAt = before.dueAt
        laterWhy = before.why
      } else if (isSecond && !keepsSecond) {
        laterAt = now + plannedMs
        laterWhy = later
      } else if (before !== undefined) {
        laterAt = before.laterAt
        laterWhy = before.laterWhy
      }
      const seq = lastSeq - asks.length + index + 1
      // The priority of a run that is pending does not fall.
      const merged = isNew ? undefined : before
      const priority = Math.max(asked, merged?.priority ?? asked)
      const askedAt = merged?.askedAt ?? now
      const run = { key, item, dueAt, why, laterAt, laterWhy, seq, priority, askedAt }
      this.#keepRun({ ...run, trace: transitions.mergeTraces(before?.trace, trace) }, when)
    }
  }

  /** Notes the replies to a batch of finishes. */
  noteFinishes(
    finishes: readonly Finish[],
    replies: readonly FinishReply[],
    when: Acknowledged,
  ): void {
    const { now, lastSeq } = when
    for (let index = 0; index < finishes.length; index += 1) {
      const finish = finishes[index]!
      const reply = replies[index]
      if (reply === undefined || reply.outcome === 'lost') continue
      const { key } = finish
      const { dueAt } = reply
      this.#keepFinish(finish, dueAt, when)
      const run = this.#runs.get(key)
      // An add that the store made after the finish, whose reply was noted first, still counts.
      if (run === undefined || run.seq > lastSeq) continue
      this.#discardRun(run)
      // The key was finished after it was added. What is still pending is what the reply says.
      if (dueAt === never) continue
      const why: DueReason = dueAt <= now ? 'add' : 'backoff'
      const laterAt = run.laterAt > dueAt ? run.laterAt : never
      this.#keepRun({ ...run, dueAt, why, laterAt, seq: lastSeq }, when)
    }
  }

  /** Notes finishes of which it is not known whether they were made: their tokens guard them. */
  noteUnanswered(finishes: readonly Finish[], at: number): void {
    const when = { primary: '', by: '', now: 0, lastSeq: 0, at }
    for (const finish of finishes) this.#keepFinish(finish, undefined, when)
  }

  /** These keys, or all, were cancelled or removed by this process when `lastSeq` had been drawn. */
  discard(keys: readonly string[] | undefined, lastSeq: number): void {
    for (const key of keys ?? [...this.#runs.keys()]) {
      const run = this.#runs.get(key)
      if (run !== undefined && run.seq <= lastSeq) this.#discardRun(run)
    }
    const discarded = keys && new Set(keys)
    for (const [token, kept] of this.#finishes) {
      const { key } = kept.finish
      if (kept.lastSeq > lastSeq || discarded?.has(key) === false) continue
      // The claim has ended, and what was left to do was cancelled.
      const finish: Finish = { as: 'done', key, token, forget: false }
      this.#finishes.set(token, { ...kept, finish, dueAt: never })
    }
  }

  /**
   * The replicas of `primary` have everything up to this entry. Of what another primary has answered while the slot
   * moves, they have nothing.
   */
  confirmed(primary: string, nth: number): void {
    this.#drop((entry) => entry.primary === primary && entry.nth <= nth)
  }

  /** A primary without replicas has these on its disk by now: they are from before `at`. */
  expired(primary: string, at: number): void {
    this.#drop((entry) => entry.primary === primary && entry.at < at)
  }

  /** Keeps the newer half of the adds, for a primary without replicas. */
  halve(primary: string): void {
    const nths = [...this.#runs.values()].map(({ nth }) => nth).sort((one, other) => one - other)
    const nth = nths[Math.floor(nths.length / 2)] ?? this.#nth
    this.#drop((entry) => isOf(entry, primary) && entry.nth <= nth)
  }

  /** The writes that another primary than `primary`, which has the slot by the table, has acknowledged. */
  unconfirmed(primary: string): Unconfirmed {
    for (const entries of [this.#runs.values(), this.#finishes.values()]) {
      for (const entry of entries as Iterable<Entry>) {
        if (entry.primary === primary) entry.tabled = undefined
      }
    }
    const isOther = (entry: Entry): boolean => !isOf(entry, primary)
    const finishes = [...this.#finishes.values()].filter(isOther)
    const runs = [...this.#runs.values()].filter(isOther).map(promisedOf)
    return { finishes, runs, nth: this.#nth }
  }

  /**
   * Everything up to this entry has been repeated on `primary`, whose replicas may not have it yet. `numbers`:
   * for the keys that it did not have, the last number that it had drawn when it got them.
   */
  repeated(
    primary: string,
    nth: number,
    at: number,
    numbers: ReadonlyMap<string, Pick<Acknowledged, 'lastSeq' | 'by'>> = new Map(),
  ): void {
    this.#nth += 1
    for (const [key, { lastSeq, by }] of numbers) {
      const run = this.#runs.get(key)
      if (run === undefined || isOf(run, primary) || run.nth > nth) continue
      run.lastSeq = lastSeq
      run.by = by
    }
    for (const entries of [this.#runs.values(), this.#finishes.values()]) {
      for (const entry of entries as Iterable<Entry>) {
        if (isOf(entry, primary) || entry.nth > nth) continue
        entry.primary = primary
        entry.tabled = undefined
        entry.nth = this.#nth
        entry.at = at
      }
    }
  }

  #keepRun(
    run: Omit<KeptRun, keyof Entry>,
    { primary, tabled, at, lastSeq, by }: Acknowledged,
  ): void {
    const { key, item, dueAt, why, laterAt, laterWhy, seq, priority, askedAt, trace } = run
    const before = this.#runs.get(key)
    if (before !== undefined) this.#discardRun(before)
    const bytes = 2 * (key.length + (item?.length ?? 0))
    this.#nth += 1
    this.#runBytes += bytes
    this.#runs.set(key, {
      nth: this.#nth,
      primary,
      tabled,
      at,
      lastSeq,
      by,
      bytes,
      key,
      item,
      dueAt,
      why,
      laterAt,
      laterWhy,
      seq,
      priority,
      askedAt,
      trace,
    })
  }

  #keepFinish(
    finish: Finish,
    dueAt: EpochMs | undefined,
    { primary, tabled, at, lastSeq, by }: Acknowledged,
  ): void {
    const { key, token } = finish
    const before = this.#finishes.get(token)
    if (before !== undefined) this.#discardFinish(before)
    const error = 'error' in finish ? finish.error : undefined
    const bytes = 2 * (key.length + (error?.length ?? 0))
    this.#nth += 1
    this.#finishBytes += bytes
    const nth = this.#nth
    this.#finishes.set(token, { nth, primary, tabled, at, lastSeq, by, bytes, finish, dueAt })
    if (this.#finishes.size <= journalKeysMax && this.#finishBytes <= journalBytesMax) return
    // A worker finishes keys also while a replica is missing; it must not run out of memory. Half of them go at
    // once, since a map is slow to find its oldest entry after others were deleted.
    for (const oldest of this.#finishes.values()) {
      if (this.#finishes.size <= journalKeysMax / 2 && this.#finishBytes <= journalBytesMax / 2)
        break
      this.#discardFinish(oldest)
    }
  }

  #discardRun({ key, bytes }: KeptRun): void {
    this.#runs.delete(key)
    this.#runBytes -= bytes
  }

  #discardFinish({ finish, bytes }: KeptFinish): void {
    this.#finishes.delete(finish.token)
    this.#finishBytes -= bytes
  }

  #drop(isDone: (entry: Entry) => boolean): void {
    for (const run of this.#runs.values()) if (isDone(run)) this.#discardRun(run)
    for (const kept of this.#finishes.values()) if (isDone(kept)) this.#discardFinish(kept)
  }
}

/** Who acknowledged a batch, and when. */
export interface Acknowledged {
  readonly primary: string
  /** The primary that has the slot by the table of slots, if another one has acknowledged the batch. */
  readonly tabled?: string | undefined
  /** Its id, as the reply said it. */
  readonly by: string
  /** The store's time. */
  readonly now: number
  /** The last position in the order that was drawn by then. */
  readonly lastSeq: number
  /** On the monotonic clock. */
  readonly at: number
}
