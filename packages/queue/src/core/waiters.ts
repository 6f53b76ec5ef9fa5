import type { HeldKey, HeldPolicy } from '../held/held-key.ts'

/** The answer to a waiter: a key or none, or several. */
type Answer = HeldKey<unknown> | HeldKey<unknown>[] | undefined

/**
 * Waiters that stop together, such as the loops of a worker. They are found in the list when they
 * stop: a listener on a signal for each of their waits costs more than the wait.
 */
export interface WaiterGroup {
  readonly isStopping: boolean
}

/** A caller that waits for keys. */
export class Waiter {
  /** The greatest number of keys. */
  readonly limit: number
  readonly policy: HeldPolicy
  /** The list that it is in, and its neighbours there. */
  list: WaiterList | undefined = undefined
  previous: Waiter | undefined = undefined
  next: Waiter | undefined = undefined
  private readonly wantsOne: boolean
  private readonly resolve: (answer: Answer) => void
  private readonly reject: (error: unknown) => void
  private readonly signal: AbortSignal | undefined
  readonly group: WaiterGroup | undefined
  private onAbort: (() => void) | undefined = undefined

  private constructor(
    limit: number,
    wantsOne: boolean,
    policy: HeldPolicy,
    signal: AbortSignal | undefined,
    resolve: (answer: Answer) => void,
    reject: (error: unknown) => void,
    group: WaiterGroup | undefined,
  ) {
    this.limit = limit
    this.wantsOne = wantsOne
    this.policy = policy
    this.signal = signal
    this.resolve = resolve
    this.reject = reject
    this.group = group
  }

  /** A waiter for one key. */
  static forOne(
    policy: HeldPolicy,
    signal: AbortSignal | undefined,
    resolve: (held: HeldKey<unknown> | undefined) => void,
    reject: (error: unknown) => void,
  ): Waiter {
    const answer = resolve as (answer: Answer) => void
    return new Waiter(1, true, policy, signal, answer, reject, undefined)
  }

  /** A waiter of a group for one key; it gets none when the group stops. */
  static forGroup(
    policy: HeldPolicy,
    group: WaiterGroup,
    resolve: (held: HeldKey<unknown> | undefined) => void,
    reject: (error: unknown) => void,
  ): Waiter {
    const answer = resolve as (answer: Answer) => void
    return new Waiter(1, true, policy, undefined, answer, reject, group)
  }

  /** A waiter for several keys, which may get fewer. */
  static forMany(
    limit: number,
    policy: HeldPolicy,
    signal: AbortSignal | undefined,
    resolve: (helds: HeldKey<unknown>[]) => void,
    reject: (error: unknown) => void,
  ): Waiter {
    const answer = resolve as (answer: Answer) => void
    return new Waiter(limit, false, policy, signal, answer, reject, undefined)
  }

  /** Calls `onAbort` when the signal is aborted; not once the waiter was answered. */
  listen(onAbort: () => void): void {
    this.onAbort = onAbort
    this.signal?.addEventListener('abort', onAbort, { once: true })
  }

  private unlisten(): void {
    if (this.onAbort !== undefined) this.signal?.removeEventListener('abort', this.onAbort)
  }

  get isAborted(): boolean {
    return this.signal?.aborted === true || this.group?.isStopping === true
  }

  /** Hands keys over; none means that the queue has ended. */
  answer(helds: HeldKey<unknown>[]): void {
    this.unlisten()
    this.resolve(this.wantsOne ? helds[0] : helds)
  }

  /** Hands over a single key. */
  answerOne(held: HeldKey<unknown>): void {
    this.unlisten()
    this.resolve(this.wantsOne ? held : [held])
  }

  fail(error: unknown): void {
    this.unlisten()
    this.reject(error)
  }

  /** Gets nothing: rejects with the reason of the signal, if there is one. */
  giveUp(): void {
    if (this.group === undefined) this.reject(this.signal?.reason)
    else this.answer([])
  }
}

/**
 * Waiters in order, each of which can be removed. Linked through the waiters themselves, and handed
 * a single key without an array around it: 1,000 instead of 1,600 ns a key with Sets and arrays,
 * `SLUICE_BENCH_ONLY=producer-workers npm run bench -- memory`.
 */
class WaiterList {
  size = 0
  first: Waiter | undefined = undefined
  private last: Waiter | undefined = undefined

  append(waiter: Waiter): void {
    const { last } = this
    waiter.list = this
    waiter.previous = last
    if (last === undefined) this.first = waiter
    else last.next = waiter
    this.last = waiter
    this.size += 1
  }

  remove(waiter: Waiter): void {
    const { next, previous } = waiter
    if (previous === undefined) this.first = next
    else previous.next = next
    if (next === undefined) this.last = previous
    else next.previous = previous
    waiter.list = undefined
    waiter.previous = undefined
    waiter.next = undefined
    this.size -= 1
  }
}

/** The waiters of a queue object, first come first served. */
export class Waiters {
  private readonly waiting = new WaiterList()
  /**
   * Waiters that had their turn already and go first, since the items of their keys did not match.
   */
  private readonly again = new WaiterList()
  /** How many keys could be handed out at once. */
  demand = 0

  get size(): number {
    return this.waiting.size + this.again.size
  }

  add(waiter: Waiter): void {
    this.waiting.append(waiter)
    this.demand += waiter.limit
  }

  addFirst(waiter: Waiter): void {
    this.again.append(waiter)
    this.demand += waiter.limit
  }

  /** Removes a waiter; false if it is not there any more. */
  remove(waiter: Waiter): boolean {
    const { list } = waiter
    if (list === undefined) return false
    list.remove(waiter)
    this.demand -= waiter.limit
    return true
  }

  first(): Waiter | undefined {
    return this.again.first ?? this.waiting.first
  }

  /** Removes every waiter of a group. */
  takeAllOf(group: WaiterGroup): Waiter[] {
    const all: Waiter[] = []
    for (const { first } of [this.again, this.waiting]) {
      for (let waiter = first; waiter !== undefined; ) {
        const { next } = waiter
        if (waiter.group === group) {
          this.remove(waiter)
          all.push(waiter)
        }
        waiter = next
      }
    }
    return all
  }

  /** Removes every waiter. */
  takeAll(): Waiter[] {
    const all: Waiter[] = []
    for (let waiter = this.first(); waiter !== undefined; waiter = this.first()) {
      this.remove(waiter)
      all.push(waiter)
    }
    return all
  }
}
