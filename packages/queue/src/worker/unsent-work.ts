import {
  addCodes,
  type CodeCounts,
  type EpochMs,
  type FailedRun,
  type WorkCounts,
  type WorkRecord,
} from '@sluice/core'
import { type Described, shortFailure } from '../driver/describe-failure.ts'

/** How many failed runs one record has, and how many of them with the same code. */
const runsMax = { all: 20, ofCode: 5 }

/** How many codes are told apart between two records. */
const codesMax = 64

/** A run that failed, before it is recorded. */
export interface FailedAttempt extends Described {
  readonly at: EpochMs
  readonly key: string
  readonly failures: number
}

const none: WorkCounts = { started: 0, done: 0, failed: 0, added: 0, merged: 0, expired: 0 }

function difference(a: WorkCounts, b: WorkCounts): WorkCounts {
  return {
    started: a.started - b.started,
    done: a.done - b.done,
    failed: a.failed - b.failed,
    added: a.added - b.added,
    merged: a.merged - b.merged,
    expired: a.expired - b.expired,
  }
}

/** The work of the workers on one queue object that is in no record in the store yet. */
export class UnsentWork {
  /** The totals when the last record was taken. */
  #told: WorkCounts = none
  #codes: Map<string, number> = new Map()
  /** The newest failed runs by code, oldest first. */
  #runs: Map<string, FailedAttempt[]> = new Map()
  /** Failed runs of a record that did not arrive. */
  #returned: readonly FailedRun[] = []

  failed(attempt: FailedAttempt): void {
    const { code } = attempt
    const count = this.#codes.get(code) ?? 0
    if (count === 0 && this.#codes.size === codesMax) return
    this.#codes.set(code, count + 1)
    const runs = [...(this.#runs.get(code) ?? []), attempt]
    this.#runs.set(code, runs.slice(-runsMax.ofCode))
  }

  /** The record of everything up to these totals; what follows belongs to the next one. */
  take(totals: WorkCounts, holder: string): WorkRecord {
    const counts = difference(totals, this.#told)
    this.#told = totals
    const codes: CodeCounts = [...this.#codes]
    const attempts = [...this.#runs.values()].flat()
    const fresh = attempts.map(
      ({ at, key, code, failures, text }): FailedRun => ({
        ...{ at, key, code, failures, holder },
        lastError: shortFailure(text),
      }),
    )
    const runs = [...this.#returned, ...fresh].sort((a, b) => a.at - b.at)
    this.#codes = new Map()
    this.#runs = new Map()
    this.#returned = []
    return { ...counts, codes: addCodes([], codes), failedRuns: runs.slice(-runsMax.all) }
  }

  /** The record did not arrive: it is part of the next one. */
  putBack(record: WorkRecord): void {
    this.#told = difference(this.#told, record)
    for (const [code, failed] of record.codes) {
      this.#codes.set(code, (this.#codes.get(code) ?? 0) + failed)
    }
    this.#returned = [...record.failedRuns, ...this.#returned].slice(-runsMax.all)
  }
}
