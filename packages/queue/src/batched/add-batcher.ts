import {
  type Ask,
  type AskReply,
  type Awaitable,
  type CancelOutcome,
  type Failure,
  type ForgetOutcome,
  mergeTraces,
} from '@sluice/core'
import type { Adds } from '../core/backend.ts'
import type { DriverCalls } from '../driver/driver-calls.ts'
import type { Answers, BatchJob } from './batch-job.ts'
import { Batcher } from './batcher.ts'
import type { NextDue } from './claims/next-due.ts'

type AddRequest = Ask | undefined
type AddReply = AskReply | CancelOutcome | ForgetOutcome
type AddJob = BatchJob<AddRequest, AddReply>

/** The answer to an add that is merged into an earlier add of its key. */
function afterwards(reply: AddReply): AddReply {
  const { outcome, dueAt, failures } = reply as AskReply
  const isRefused = outcome === 'parked' || outcome === 'full'
  return { outcome: isRefused ? outcome : 'unchanged', dueAt, failures }
}

/** How many adds were merged into these jobs: subscribers that count adds cannot see them. */
function mergedInto(jobs: readonly AddJob[]): number {
  let merged = 0
  for (const { followers } of jobs) merged += followers?.length ?? 0
  return merged
}

function keyOf(request: AddRequest): string {
  return request?.key ?? ''
}

function isPlain({ delayMs, failed, plan }: Ask): boolean {
  return delayMs <= 0 && failed !== true && plan === undefined
}

/** Batches everything that changes the pending runs of keys without holding them. */
export class AddBatcher extends Batcher<AddRequest, AddReply> implements Adds {
  readonly #nextDue: NextDue

  constructor(calls: DriverCalls, nextDue: NextDue) {
    // One batch at a time: the order of the keys is that in which they were added.
    super(calls, 1)
    this.#nextDue = nextDue
  }

  override sizeOf(request: AddRequest): number {
    // An item that is its own key is not sent a second time.
    return keyOf(request).length + (request?.item?.length ?? 0)
  }

  override orderedAt(request: AddRequest): number | undefined {
    return request !== undefined && isPlain(request) ? request.priority : undefined
  }

  protected override send(
    kind: string,
    jobs: readonly AddJob[],
  ): Awaitable<readonly (AddReply | Failure)[]> {
    const { driver, name, askOptions } = this.calls
    if (kind === 'add') {
      const asks = jobs.map(({ request }) => request as Ask)
      const request = { asks, options: askOptions, merged: mergedInto(jobs) }
      return this.calls.call('add', request, () => driver.add(name, asks, askOptions))
    }
    const keys = jobs.map(({ key }) => key)
    return kind === 'cancel'
      ? this.calls.call('cancel', { keys }, () => driver.cancel(name, keys))
      : this.calls.call('forget', { keys }, () => driver.forget(name, keys))
  }

  add(ask: Ask): Promise<AskReply> {
    return new Promise((resolve, reject) => {
      this.submit('add', ask.key, ask, {
        resolve: (_, reply) => {
          const added = reply as AskReply
          this.#nextDue.learn(added.dueAt, ask.delayMs > 0 || ask.plan !== undefined)
          resolve(added)
        },
        reject: (_, error) => reject(error),
      })
    })
  }

  addMany(asks: readonly Ask[], answers: Answers<AskReply>): void {
    this.submitMany('add', asks, keyOf, {
      resolve: (index, reply) => {
        const added = reply as AskReply
        this.#nextDue.learn(added.dueAt, false)
        answers.resolve(index, added)
      },
      reject: (index, error) => answers.reject(index, error),
    })
  }

  cancel(key: string): Promise<CancelOutcome> {
    return this.#change('cancel', key) as Promise<CancelOutcome>
  }

  forget(key: string): Promise<ForgetOutcome> {
    return this.#change('forget', key) as Promise<ForgetOutcome>
  }

  /** Takes its turn after the adds of the key that were made before. */
  #change(kind: 'cancel' | 'forget', key: string): Promise<AddReply> {
    return new Promise((resolve, reject) => {
      this.submit(kind, key, undefined, {
        resolve: (_, reply) => resolve(reply),
        reject: (_, error) => reject(error),
      })
    })
  }

  /**
   * Immediate adds of one key travel as one; each gets the answer that it would have got alone. An
   * add that is repeated changes nothing more: the key is due at least as early as it was.
   */
  override merge(earlier: AddJob, later: AddJob): ((reply: AddReply) => AddReply) | undefined {
    const first = earlier.request
    const second = later.request
    if (first === undefined || second === undefined) return undefined
    // The store decides which of the two runs a higher priority moves: it needs a batch of its own.
    if (!isPlain(first) || !isPlain(second) || second.priority > first.priority) return undefined
    const trace = mergeTraces(first.trace, second.trace)
    earlier.request = { ...first, item: second.item, trace }
    return afterwards
  }
}
