import type { HeldKey } from './held-key.ts'

/** A key that has been held for a while, known without keeping its Held alive. */
interface AgedHold {
  readonly key: string
  readonly token: number
  readonly ref: WeakRef<HeldKey<unknown>>
  isLost: boolean
}

/**
 * The keys that one queue object has handed out and not got back.
 *
 * A Held that its user dropped must not be kept alive from here, or the drop could not be detected.
 * But weak references are expensive, so that a Held starts out in a plain linked list, and only
 * those that are old by the next `age` are held weakly: none of them in a queue that keeps moving.
 */
export class HeldSet {
  /** The newest one of the list. */
  private last: HeldKey<unknown> | undefined
  /** The last one that was there at the previous ageing. */
  private mark: HeldKey<unknown> | undefined
  private readonly aged = new Map<number, AgedHold>()
  private readonly registry: FinalizationRegistry<number>
  /** By key, oldest first. Built with its first use, and kept from then on. */
  private byKey: Map<string, HeldKey<unknown>[]> | undefined
  /**
   * The keys of this queue object are finished by their Helds: a dropped Held will not be finished.
   */
  private isFinishedByHeld = false
  /** How many are held and not lost. */
  size = 0

  constructor(onDropped: (key: string, token: number) => void) {
    this.registry = new FinalizationRegistry((token) => {
      const hold = this.aged.get(token)
      if (hold === undefined) return
      this.aged.delete(token)
      if (hold.isLost) return
      this.size -= 1
      onDropped(hold.key, hold.token)
    })
  }

  /** Whether it has no Held any more, neither held nor lost. */
  get isEmpty(): boolean {
    return this.last === undefined && this.aged.size === 0
  }

  add(held: HeldKey<unknown>): void {
    this.size += 1
    this.link(held)
    if (this.byKey !== undefined) this.index(this.byKey, held)
  }

  /** Takes out a key that was given back. */
  remove(held: HeldKey<unknown>): void {
    if (!held.isLost) this.size -= 1
    this.unlink(held)
    if (this.byKey === undefined) {
      this.isFinishedByHeld = true
      return
    }
    const same = this.byKey.get(held.key)
    if (same === undefined) return
    const at = same.indexOf(held)
    if (at >= 0) same.splice(at, 1)
    if (same.length === 0) this.byKey.delete(held.key)
  }

  private unlink(held: HeldKey<unknown>): void {
    if (this.aged.size > 0 && this.aged.delete(held.token)) {
      this.registry.unregister(held)
      return
    }
    const { previous, next } = held
    if (next !== undefined) next.previous = previous
    else if (this.last === held) this.last = previous
    else return
    if (previous !== undefined) previous.next = next
    if (this.mark === held) this.mark = previous
    held.previous = undefined
    held.next = undefined
  }

  /** Marks a key as lost: it is not held any more, but may still be given back. */
  lose(held: HeldKey<unknown>): void {
    if (held.isLost) return
    held.isLost = true
    this.size -= 1
    const aged = this.aged.get(held.token)
    if (aged !== undefined) aged.isLost = true
  }

  private index(byKey: Map<string, HeldKey<unknown>[]>, held: HeldKey<unknown>): void {
    const same = byKey.get(held.key)
    if (same === undefined) byKey.set(held.key, [held])
    else same.push(held)
  }

  private indexed(): Map<string, HeldKey<unknown>[]> {
    if (this.byKey !== undefined) return this.byKey
    const byKey = new Map<string, HeldKey<unknown>[]>()
    // From now on keys are finished by item, so that their Helds may well have been dropped.
    for (const { token, ref } of this.aged.values()) {
      const held = ref.deref()
      if (held === undefined) continue
      this.registry.unregister(held)
      this.aged.delete(token)
      this.link(held)
    }
    for (let held = this.last; held !== undefined; held = held.previous) {
      this.index(byKey, held)
    }
    for (const same of byKey.values()) same.sort((a, b) => a.token - b.token)
    this.byKey = byKey
    return byKey
  }

  private link(held: HeldKey<unknown>): void {
    const { last } = this
    if (last !== undefined) {
      last.next = held
      held.previous = last
    }
    this.last = held
  }

  /** The oldest Held of a key that is not being finished yet, also if it is lost. */
  oldest(key: string): HeldKey<unknown> | undefined {
    return this.indexed()
      .get(key)
      ?.find(({ phase }) => phase === 'held')
  }

  /** Whether a key is held, and not lost. */
  holds(key: string): boolean {
    return (
      this.indexed()
        .get(key)
        ?.some((held) => !held.isLost) === true
    )
  }

  /**
   * Holds those Helds weakly that were there before the last call already. Not before a key was
   * finished by its Held: until then the first `done(item)` may still come.
   */
  age(): void {
    if (this.byKey === undefined && this.isFinishedByHeld) {
      for (let held = this.mark; held !== undefined; ) {
        const { key, token, isLost, previous } = held
        this.unlink(held)
        this.aged.set(token, { key, token, isLost, ref: new WeakRef(held) })
        this.registry.register(held, token, held)
        held = previous
      }
    }
    this.mark = this.last
  }

  /** Every Held that is not lost, the oldest first. */
  active(): HeldKey<unknown>[] {
    const helds = [...this.aged.values()].flatMap(({ ref }) => ref.deref() ?? [])
    for (let held = this.last; held !== undefined; held = held.previous) helds.push(held)
    return helds.filter(({ isLost }) => !isLost).sort((a, b) => a.token - b.token)
  }
}
