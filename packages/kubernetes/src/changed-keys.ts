import { checkKey, describeValue, isPromise, SluiceTypeError } from '@sluice/core'
import { type KubernetesObjectLike, type Mapping, objectKey } from './mapping.ts'

/** Finds the keys that a change of an object concerns: those of its new version and of the one before. */
export class ChangedKeys<T extends KubernetesObjectLike> {
  readonly #mapping: Mapping<T>
  readonly #report: (error: unknown) => void
  /** The keys of the last version of each object, unless the only one is its own. */
  readonly #before = new Map<string | undefined, readonly string[]>()

  constructor(mapping: Mapping<T>, report: (error: unknown) => void) {
    this.#mapping = mapping
    this.#report = report
  }

  /** The keys of one version, without those that no key can be; none if the mapping gives none. */
  of(object: T): readonly string[] {
    try {
      const keys = this.#mapping(object) ?? []
      // The events of an object are handled in their order, so it cannot be awaited.
      if (isPromise(keys)) keys.then(undefined, this.#report)
      const all = typeof keys === 'string' ? [keys] : keys
      if (Symbol.iterator in Object(all)) return Array.from(all).filter((key) => this.#isKey(key))
      const message = `must return a key or an array of keys; got ${describeValue(keys)}`
      throw new SluiceTypeError('mapping(object)', message)
    } catch (error) {
      this.#report(error)
      return []
    }
  }

  #isKey(key: string): boolean {
    try {
      checkKey('mapping(object)', key)
      return true
    } catch (error) {
      this.#report(error)
      return false
    }
  }

  /** The keys of an object that was added or changed: the owner that lost it must learn of it too. */
  changed(object: T): ReadonlySet<string> {
    const name = objectKey(object)
    const keys = this.of(object)
    const concerned = new Set([...(this.#before.get(name) ?? []), ...keys])
    if (keys.length === 1 && keys[0] === name) this.#before.delete(name)
    else this.#before.set(name, keys)
    return concerned
  }

  /** The keys of an object that was deleted. */
  deleted(object: T): ReadonlySet<string> {
    const concerned = this.changed(object)
    this.#before.delete(objectKey(object))
    return concerned
  }
}
