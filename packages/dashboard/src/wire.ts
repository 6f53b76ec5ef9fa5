import type { Capabilities, KeyStateWord } from '@sluice/core'
import type {
  Condition,
  Explanation,
  HistoryRange,
  KeyInfo,
  LastError,
  QueueCounts,
  ReasonCode,
  RetryArithmetic,
  Severity,
  SeveritySince,
  urgencies,
  WorkRates,
} from 'sluice'

export type { KeyStateWord } from '@sluice/core'
export type { HistoryRange } from 'sluice'

/** The table of urgencies, value by value. */
export type Urgencies = typeof urgencies

/** The first answer to a page: the store, and the rights of the visitor. */
export interface SessionInfo {
  /** The store for display: its kind and location, without passwords. */
  readonly store: string
  readonly driver: string
  readonly capabilities: Capabilities
  /** Whether this page may act. The server checks every request again. */
  readonly mayAct: boolean
  /** Whether the visitor must sign in first; all other requests are answered with 401. */
  readonly mustSignIn: boolean
  /** Why this page may not act, as a sentence; absent if it may. */
  readonly readOnlyBecause?: string | undefined
  /** Whether visitors who must sign in do that here, with the token. */
  readonly canSignIn?: boolean
  /** Whether the visitor has signed in, and can therefore sign out. */
  readonly signedIn?: boolean
  /** Why no stream can be opened now, as a sentence; absent if one can. */
  readonly noStreamBecause?: string
  /** Sent as `x-sluice-csrf` with every action; absent if the page may not act. */
  readonly csrf?: string | undefined
}

/** Quantiles of a duration in milliseconds; `undefined` where nothing was seen. */
export interface Quantiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** One step of a chart. */
export interface ChartStep {
  /** When it began. */
  readonly at: number
  /** Runs that ended well and that failed, and adds that merged. */
  readonly done: number
  readonly failed: number
  readonly merged: number
  /** Keys that were ready, and parked. */
  readonly ready: number
  readonly parked: number
  /** True if there were more keys than were counted. */
  readonly capped?: boolean
}

/** The work in a step of a chart, as far as workers have recorded it. */
export interface ChartMark {
  /** When the step began. */
  readonly at: number
  /**
   * Leases that expired, keys that were parked, workers that started, and queues that were paused or
   * resumed.
   */
  readonly what: 'expired' | 'parked' | 'started' | 'paused' | 'resumed'
  readonly count: number
}

/** The records of a range of time. A step without a record is missing: it is unknown. */
export interface Chart {
  readonly stepMs: number
  /** When the first step of the axis began, and how many steps it has. */
  readonly from: number
  readonly count: number
  /** Oldest first; the last one may not be over. */
  readonly steps: readonly ChartStep[]
  /** Oldest first. */
  readonly marks: readonly ChartMark[]
}

/** One queue in the overview. */
export interface QueueRow {
  readonly queue: string
  readonly counts: QueueCounts
  /** Workers that take keys, and their total concurrency. */
  readonly workers: number
  readonly slots: number
  /** Workers that have missed several heartbeats. */
  readonly gone: number
  readonly severity: Severity
  /** The reason for the severity, as one short sentence. */
  readonly reason: string
  readonly flow: WorkRates
  readonly wait?: Quantiles | undefined
  readonly work?: Quantiles | undefined
  /** Ready keys at each step of the range, oldest first; null where nothing was recorded. */
  readonly depths: readonly (number | null)[]
}

/** Every queue, worst first. */
export interface Overview {
  readonly at: number
  readonly range: HistoryRange
  /** All queues together. */
  readonly chart: Chart
  readonly queues: readonly QueueRow[]
  /** How many queues the store has: of very many, only some are shown. */
  readonly stored: number
  /** The queues that cannot be read, while others can; absent if there are none. */
  readonly unread?: UnreadQueues
}

/** Queues that are damaged, or stored by a newer version, with what to do about it. */
export type UnreadQueues = readonly { readonly queue: string; readonly message: string }[]

/** A worker of a queue. */
export interface WorkerView {
  readonly holder: string
  readonly host: string
  readonly pid: number
  readonly concurrency: number
  readonly busy?: number | undefined
  readonly startedAt: number
  readonly seenAt: number
  /** The key that it has held longest of those it holds now. */
  readonly longest?: { readonly key: string; readonly since: number } | undefined
  /** It has missed several heartbeats. */
  readonly isGone: boolean
}

/** A held key, with its holder. */
export interface LeaseView {
  readonly key: string
  readonly holder?: string | undefined
  readonly leaseUntil?: number | undefined
  readonly isDirty: boolean
  readonly failures: number
}

/** A failed run. */
export interface FailedRunView {
  readonly at: number
  readonly key: string
  readonly holder?: string
  /** How many runs of the key had failed by then. */
  readonly failures?: number
  readonly message: string
}

/** Failures with the same code; the name of an error stands for a missing code. */
export interface FailureGroup {
  readonly queue: string
  readonly code: string
  /** True if keys cannot be found by the code: `redactError` has changed it. */
  readonly isRedacted?: boolean
  /** Failed runs in the range, and in each of its steps. */
  readonly failed: number
  readonly perStep: readonly number[]
  /** When a run failed so last; absent if only steps of the history say that it did. */
  readonly lastAt?: number
  /** Stored keys that failed so last, of those that were read. */
  readonly keys: number
  /** True if more keys may have failed so than were read. */
  readonly isPart?: boolean
  /** Newest first. */
  readonly runs: readonly FailedRunView[]
}

/** A bucket that the limiter of a queue takes tokens from. */
export interface BucketView {
  readonly name: string
  readonly perSecond: number
  readonly burst: number
  /** As of now; negative if future tokens are already reserved. */
  readonly tokens: number
}

/** Everything that is shown of one queue. */
export interface QueueView extends QueueRow {
  readonly at: number
  readonly range: HistoryRange
  readonly chart: Chart
  /** Since when the queue is in its state, as far as that is known. */
  readonly since?: SeveritySince | undefined
  /** Whether the store lists the queue; then what is listed, and similar names if it does not. */
  readonly exists: boolean
  readonly similar: readonly string[]
  /** When the next delayed key, and the next key in back-off, is due; absent if not all of them were read. */
  readonly nextDelayedAt?: number | undefined
  readonly nextBackoffAt?: number | undefined
  /** Runs by waiting time and by handler time; bounds in milliseconds. */
  readonly waitHistogram?: Histogram | undefined
  readonly workHistogram?: Histogram | undefined
  readonly limiter?: string | undefined
  readonly buckets: readonly BucketView[]
  readonly workerList: readonly WorkerView[]
  readonly leases: readonly LeaseView[]
  readonly failureGroups: readonly FailureGroup[]
  /** True if there are more leases than were read. */
  readonly more: boolean
}

/** Failed runs by queue and code, of every queue or of one; the most frequent first. */
export interface FailuresView {
  readonly at: number
  readonly range: HistoryRange
  /** The failed runs of every code, and the axis of all groups. */
  readonly chart: Chart
  readonly groups: readonly FailureGroup[]
  /** True if there are more groups, or queues, than are shown. */
  readonly more: boolean
  /** The queues that cannot be read, while others can; absent if there are none. */
  readonly unread?: UnreadQueues
}

/** Counts by upper bound; the last has none. */
export interface Histogram {
  readonly boundsMs: readonly number[]
  readonly counts: readonly number[]
}

/** A key as lists show it. The item is sent only on request. */
export type KeyLine = Omit<KeyInfo, 'item'> & { readonly item?: unknown; readonly hasItem: boolean }

/** A page of keys, in the order of the keys. */
export interface KeyLines {
  readonly at: number
  readonly keys: readonly KeyLine[]
  readonly cursor?: string | undefined
  /** How many keys were read to find these. */
  readonly lookedAt: number
}

/** A filter for keys, with the same names in the page's address, the API and the actions. */
export interface KeyQuery {
  readonly state?: KeyStateWord
  readonly prefix?: string
  readonly failuresMin?: number
  readonly errorCode?: string
}

/** How many keys of a queue are in each state, without a cap. */
export interface ExactCounts {
  readonly at: number
  readonly tookMs: number
  readonly counts: QueueCounts
}

/** How many of the keys that were read a query matches, for the confirmation of a bulk action. */
export interface Matching {
  readonly count: number
  /** True if there are more, which an action would not change. */
  readonly capped: boolean
  readonly lookedAt: number
  /** Where counting continues; absent if every key was read, or `capped`. */
  readonly cursor?: string | undefined
}

/** A change of state of a key, recorded in its row or observed while it was shown. */
export interface KeyStep {
  readonly at: number
  /** The new state. */
  readonly to: KeyStateWord | 'absent'
  readonly note: string
  /** `row`: recorded by the store. `seen`: observed between two reads. */
  readonly from: 'row' | 'seen'
}

/** Everything that is shown of one key. */
export interface KeyView {
  readonly at: number
  readonly queue: string
  readonly key: string
  /** Absent if the key is not stored. */
  readonly line?: KeyLine | undefined
  readonly state: KeyStateWord | 'absent'
  readonly blockedBy?: ReasonCode | undefined
  readonly conditions: readonly Condition[]
  readonly next?: { readonly at: number; readonly to: KeyStateWord } | undefined
  readonly retry?: RetryArithmetic | undefined
  /** When the key is expected to run; absent if that cannot be estimated. */
  readonly estimate?: Explanation['estimate']
  /** Oldest first. */
  readonly steps: readonly KeyStep[]
  /** Newest first: the one that the store keeps, and those observed before it. */
  readonly errors: readonly (LastError & { readonly at?: number })[]
}

/** The actions of a visitor. */
export type ActionName =
  | 'add'
  | 'runNow'
  | 'release'
  | 'forget'
  | 'park'
  | 'unpark'
  | 'remove'
  | 'pause'
  | 'resume'
  | 'purge'

/** A request for an action. */
export interface ActionRequest {
  readonly queue: string
  readonly action: ActionName
  /** One key, for the actions on keys; otherwise every key that matches `all`. */
  readonly key?: string
  readonly all?: KeyQuery
  /** How many keys the visitor confirmed. Keys beyond that number are not changed. */
  readonly expected?: number
  /** For `add`: the item, the delay and the priority. Without an item, the stored one is used. */
  readonly item?: unknown
  readonly afterMs?: number
  readonly priority?: number
  /** For `release`: only if the key is still held under this token. */
  readonly token?: number
  /** For `unpark`: resets the failure count. */
  readonly forget?: boolean
  /** For `purge`, and for `remove` with `all`: the name of the queue, as confirmation. */
  readonly confirm?: string
}

/** The result of an action. */
export interface ActionResult {
  readonly action: ActionName
  /** How many keys changed. */
  readonly changed: number
  readonly unchanged: number
  /** True if more keys matched than were changed. */
  readonly capped: boolean
  /** The result as one sentence. */
  readonly words: string
}

/** An action, as it is announced to all open pages. */
export interface Audit {
  readonly at: number
  readonly queue: string
  readonly action: ActionName
  /** The key, for an action on one. */
  readonly key?: string
  readonly who: string
  readonly words: string
}

/** Why a request was rejected. */
export interface Refusal {
  readonly code: string
  readonly message: string
}

/** The subject of a stream; as a query: `about=overview`, `about=failures` with or without
 * `queue=…`, `about=queue&queue=…`, these with `range=5m`, `1h` or `24h`, and
 * `about=key&queue=…&key=…`. */
export type About = 'overview' | 'failures' | 'queue' | 'key'

/** The view that each kind of stream carries. */
export interface Views {
  readonly overview: Overview
  readonly failures: FailuresView
  readonly queue: QueueView
  readonly key: KeyView
}

/**
 * A change of a view. `set` holds the changed members of the top level; `rows` the changed queues of
 * the overview, by name; `gone` the names that were deleted; `order` their order if it changed.
 */
export interface Delta {
  readonly set: Readonly<Record<string, unknown>>
  readonly unset?: readonly string[]
  readonly rows?: Readonly<Record<string, QueueRow>>
  readonly gone?: readonly string[]
  readonly order?: readonly string[]
}

/**
 * The server-sent events of a stream, by name. Event ids are increasing numbers; after a gap that
 * cannot be filled, a snapshot follows.
 */
export interface StreamEvents {
  readonly snapshot: Views[About]
  readonly delta: Delta
  /** The store was read; nothing has changed. */
  readonly ping: { readonly at: number }
  /** The store cannot be reached; reads are retried. */
  readonly trouble: Refusal & { readonly at: number; readonly sinceMs: number }
  readonly audit: Audit
}
