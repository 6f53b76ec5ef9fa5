import { Handle } from './floors.ts'

const added = Promise.resolve('added')
const unchanged = Promise.resolve('unchanged')
const idle = Promise.resolve('idle')
const ready = Promise.resolve('ready')

/** How many keys have been handed out before their places in the list are given up. */
const passedMax = 65_536

/**
 * The Go queue in JavaScript: two sets and a list behind promises, and nothing else. No check of a
 * key, no token, priority, delay, failure or lease, no limit, no way to look inside.
 */
export class SetsQueue {
  readonly #dirty = new Set<string>()
  readonly #processing = new Set<string>()
  #ready: string[] = []
  /** How many keys at the beginning of `#ready` were handed out. */
  #passed = 0
  readonly #waiting: ((handle: Handle) => void)[] = []

  add(key: string): Promise<string> {
    if (this.#dirty.has(key)) return unchanged
    this.#dirty.add(key)
    if (!this.#processing.has(key)) this.#push(key)
    return added
  }

  get(): Promise<Handle> {
    if (this.#passed < this.#ready.length) return Promise.resolve(this.#take())
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  done({ key }: Handle): Promise<string> {
    this.#processing.delete(key)
    if (!this.#dirty.has(key)) return idle
    this.#push(key)
    return ready
  }

  #push(key: string): void {
    this.#ready.push(key)
    if (this.#waiting.length > 0) this.#waiting.shift()!(this.#take())
  }

  #take(): Handle {
    const key = this.#ready[this.#passed]!
    this.#passed += 1
    if (this.#passed === passedMax) {
      this.#ready = this.#ready.slice(passedMax)
      this.#passed = 0
    }
    this.#processing.add(key)
    this.#dirty.delete(key)
    return new Handle(key, 1, 0)
  }
}
