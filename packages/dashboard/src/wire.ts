import type { Capabilities, KeyStateWord } from '@sluice/core'
import type { Condition, Explanation, KeyInfo, LastError, QueueCounts, ReasonCode } from 'sluice'

export type { KeyStateWord } from '@sluice/core'

/** What a page learns first: who serves it and what it may do. */
export interface SessionInfo {
  /** The store, for people: its kind and where it is, without passwords. */
  readonly store: string
  readonly driver: string
  readonly capabilities: Capabilities
  /** Whether this page may change anything. The server decides anew for each request. */
  readonly mayAct: boolean
  /** Whether somebody must sign in first; everything else answers 401 then. */
  readonly mustSignIn: boolean
  /** Why this page may change nothing, as a sentence for a person; absent if it may. */
  readonly readOnlyBecause?: string
  /** Whether somebody could sign in here, to see or to do more. */
  readonly canSignIn?: boolean
  /** Whether somebody has signed in, and so can sign out. */
  readonly signedIn?: boolean
  /** To be sent as `x-sluice-csrf` with every action; absent unless the page may act. */
  readonly csrf?: string
  readonly version: string
}

/** How a queue does, worst first. */
export type Severity =
  | 'no workers'
  | 'leases lost'
  | 'falling behind'
  | 'waiting long'
  | 'failing'
  | 'paused'
  | 'ok'

/** Quantiles of a duration in milliseconds; `undefined` where nothing was seen. */
export interface Quantiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** How many keys come and go, over the last minute or so; absent until it can be told. */
export interface Flow {
  /** Runs that ended well or not, a second. */
  readonly outPerSecond?: number
  /** Runs that became owed, a second: what ended, and what the queue grew by. */
  readonly inPerSecond?: number
  /** Of the runs that ended, how many failed: 0 to 1. */
  readonly errorRatio?: number
  /** Of the adds of processes with workers, how many were merged into a run already owed: 0 to 1. */
  readonly mergedRatio?: number
}

/** One queue in the overview. */
export interface QueueRow {
  readonly queue: string
  readonly counts: QueueCounts
  /** How long the key has waited that has been ready longest. */
  readonly oldestMs?: number
  readonly workers: number
  /** Handlers that could run at a time, in all workers together. */
  readonly slots: number
  readonly severity: Severity
  /** One short sentence: why it is where it is in the list. */
  readonly reason: string
  readonly flow: Flow
  readonly wait?: Quantiles
  readonly work?: Quantiles
  /** In and out a second, oldest first, one pair for each of the last samples (up to 5 minutes). */
  readonly history: readonly (readonly [inPerSecond: number, outPerSecond: number])[]
}

/** Every queue, the ones that need somebody first. */
export interface Overview {
  readonly at: number
  /** How far apart two samples of a `history` are. 10 seconds if absent. */
  readonly historyEveryMs?: number
  readonly queues: readonly QueueRow[]
  /** True if there are more queues than are shown. */
  readonly more: boolean
}

/** A worker of a queue. */
export interface WorkerView {
  readonly holder: string
  readonly host: string
  readonly pid: number
  readonly concurrency: number
  readonly busy?: number
  readonly startedAt: number
  readonly seenAt: number
  readonly settings: Readonly<Record<string, string | number | boolean>>
  readonly longest?: { readonly key: string; readonly forMs: number }
}

/** A held key, with who holds it. */
export interface LeaseView {
  readonly key: string
  readonly holder?: string
  readonly token: number
  readonly leaseUntil?: number
  readonly isDirty: boolean
  readonly failures: number
}

/** Failures that look the same. */
export interface FailureGroup {
  readonly name: string
  readonly code?: string
  readonly message: string
  readonly keys: number
  /** Failures of those keys together. */
  readonly failures: number
  /** One key of the group, to look at. */
  readonly example: string
}

/** A bucket that the limiter of a queue takes tokens from. */
export interface BucketView {
  readonly name: string
  readonly perSecond: number
  readonly burst: number
  /** As of now; below zero when later ones are promised already. */
  readonly tokens: number
}

/** One queue, seen whole. */
export interface QueueView extends QueueRow {
  readonly at: number
  /** How far apart two samples of `history` are. 10 seconds if absent. */
  readonly historyEveryMs?: number
  /** When the next delayed key, and the next that backs off, is due; of those that were looked at. */
  readonly nextDelayedAt?: number
  readonly nextBackoffAt?: number
  /** Counts of runs by how long keys waited and were worked on; bounds in milliseconds. */
  readonly waitHistogram?: Histogram
  readonly workHistogram?: Histogram
  readonly limiter?: string
  readonly buckets: readonly BucketView[]
  readonly workerList: readonly WorkerView[]
  readonly leases: readonly LeaseView[]
  readonly failureGroups: readonly FailureGroup[]
  /** True if there are more leases or failures than were looked at. */
  readonly more: boolean
}

/** Counts by upper bound; the last has none. */
export interface Histogram {
  readonly boundsMs: readonly number[]
  readonly counts: readonly number[]
}

/** A key as lists show it. The item is only sent where it was asked for. */
export type KeyLine = Omit<KeyInfo, 'item'> & { readonly item?: unknown; readonly hasItem: boolean }

/** A page of keys, in the order of the keys. */
export interface KeyLines {
  readonly at: number
  readonly keys: readonly KeyLine[]
  readonly cursor?: string
  /** How many keys were looked at to find these. */
  readonly lookedAt: number
}

/** Which keys: the same words in the address of the page, the API and the actions. */
export interface KeyQuery {
  readonly state?: KeyStateWord
  readonly prefix?: string
  readonly failuresMin?: number
  readonly errorCode?: string
}

/** How many keys a query finds, before something is done to all of them. */
export interface Matching {
  readonly count: number
  /** True if there are more, which an action would leave alone. */
  readonly capped: boolean
}

/** What was seen to happen to a key, by its row or while somebody looked. */
export interface KeyStep {
  readonly at: number
  /** The state it came to. */
  readonly to: KeyStateWord | 'absent'
  readonly note: string
  /** `row`: the store says so. `seen`: it was looked at before and after. */
  readonly from: 'row' | 'seen'
}

/** How the delay of a key came about. */
export interface RetryArithmetic {
  readonly failures: number
  /** What the failures of the key alone ask for. */
  readonly perKeyMs?: number
  /** What a bucket asked for, if it was more. */
  readonly bucketMs?: number
  /** In words, such as `5 ms x 2^8 = 1.28 s`. */
  readonly words: string
}

/** One key, seen whole. */
export interface KeyView {
  readonly at: number
  readonly queue: string
  readonly key: string
  /** Absent if nothing is stored of the key. */
  readonly line?: KeyLine
  readonly state: KeyStateWord | 'absent'
  readonly blockedBy?: ReasonCode
  readonly conditions: readonly Condition[]
  readonly next?: { readonly at: number; readonly to: KeyStateWord }
  readonly retry?: RetryArithmetic
  /** When the key is likely to be taken; absent where it cannot be told. */
  readonly estimate?: Explanation['estimate']
  /** Oldest first. */
  readonly steps: readonly KeyStep[]
  /** Newest first: the last one of the store, and those seen before it. */
  readonly errors: readonly (LastError & { readonly at?: number })[]
}

/** What a person can do. */
export type ActionName =
  | 'add'
  | 'runNow'
  | 'forget'
  | 'park'
  | 'unpark'
  | 'remove'
  | 'pause'
  | 'resume'
  | 'purge'

/** What a person did. */
export interface ActionRequest {
  readonly queue: string
  readonly action: ActionName
  /** One key, for the actions on keys; or else every key that `all` finds. */
  readonly key?: string
  readonly all?: KeyQuery
  /** How many keys the person was told: more than that are left alone, and said. */
  readonly expected?: number
  /** For `add`: the item, how late, and how important. Without an item, the stored one is used. */
  readonly item?: unknown
  readonly afterMs?: number
  readonly priority?: number
  /** For `unpark`: counts failures from zero again. */
  readonly forget?: boolean
  /** For `purge`, and `remove` of many: the queue's name, typed once more. */
  readonly confirm?: string
}

/** What came of it. */
export interface ActionResult {
  readonly action: ActionName
  /** How many keys are not as they were. */
  readonly changed: number
  readonly unchanged: number
  /** True if there were more than could be touched. */
  readonly capped: boolean
  /** One sentence for the person. */
  readonly words: string
}

/** An action that was taken, as everybody who looks is told. */
export interface Audit {
  readonly at: number
  readonly queue: string
  readonly action: ActionName
  readonly who: string
  readonly words: string
}

/** Why a request was refused. */
export interface Refusal {
  readonly code: string
  readonly message: string
}

/** What one stream is about; as a query: `about=overview`, `about=queue&queue=…`, `about=key&queue=…&key=…`. */
export type About = 'overview' | 'queue' | 'key'

/** What each kind of stream carries. */
export interface Views {
  readonly overview: Overview
  readonly queue: QueueView
  readonly key: KeyView
}

/**
 * A change of a view. `set` holds the members of the top level that are not as they were; `rows`
 * those of the overview's queues, by name; `gone` the names that are no more; `order` their order
 * if it changed.
 */
export interface Delta {
  readonly set: Readonly<Record<string, unknown>>
  readonly unset?: readonly string[]
  readonly rows?: Readonly<Record<string, QueueRow>>
  readonly gone?: readonly string[]
  readonly order?: readonly string[]
}

/**
 * What a stream sends, by the name of the server-sent event. The id of each event is a number that
 * rises; after a gap that cannot be filled comes a snapshot.
 */
export interface StreamEvents {
  readonly snapshot: Views[About]
  readonly delta: Delta
  /** Nothing has changed; the store was looked at. */
  readonly ping: { readonly at: number }
  /** The store cannot be reached; it is tried again. */
  readonly trouble: Refusal & { readonly at: number; readonly sinceMs: number }
  readonly audit: Audit
}
