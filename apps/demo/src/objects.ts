/** Something that changes, as the demo's world has it: a name and the version it is at. */
export interface ObjectEvent {
  readonly name: string
  readonly version: number
}

const namespaces = ['default', 'shop', 'staging']
const kinds = ['web', 'api', 'mail', 'search', 'cache', 'billing', 'images', 'reports']
const names = namespaces.flatMap((namespace) => kinds.map((kind) => `${namespace}/${kind}`))

/**
 * A source that is listed once and then watched, like the API server of a cluster: it says *that* an
 * object has changed, many times over, and leaves it to the reader to look at what is there now.
 */
export class ObjectSource {
  readonly #versions = new Map<string, number>()
  readonly #listeners = new Set<(event: ObjectEvent) => void>()
  #ticker: NodeJS.Timeout | undefined
  /** How many changes it has reported. */
  events = 0

  constructor() {
    for (const name of names) this.#versions.set(name, 1)
  }

  /** Reports every object that exists, and every change from then on. */
  watch(listener: (event: ObjectEvent) => void): void {
    this.#listeners.add(listener)
    this.#tellAll()
  }

  #tellAll(): void {
    for (const name of this.#versions.keys()) this.#tell(name)
  }

  /** Starts changing: bursts of changes to one object after the other; and lists all by and by. */
  start(): void {
    let round = 0
    this.#ticker = setInterval(() => {
      round += 1
      if (round % 100 === 0) this.#tellAll()
      const name = names[(round * 7) % names.length] as string
      for (let change = 0; change < 25; change += 1) this.#change(name)
    }, 150)
  }

  stop(): void {
    clearInterval(this.#ticker)
  }

  #change(name: string): void {
    this.#versions.set(name, (this.#versions.get(name) ?? 0) + 1)
    this.#tell(name)
  }

  #tell(name: string): void {
    this.events += 1
    const event = { name, version: this.#versions.get(name) ?? 0 }
    for (const listener of this.#listeners) listener(event)
  }
}
