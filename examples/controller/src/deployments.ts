/** What is wanted: so many machines under a name. */
export interface Deployment {
  readonly name: string
  readonly machines: number
}

/** Where wishes are kept. */
export class Deployments {
  readonly #wanted = new Map<string, Deployment>()
  readonly #watchers = new Set<(name: string) => void>()

  list(): readonly Deployment[] {
    return [...this.#wanted.values()]
  }

  get(name: string): Deployment | undefined {
    return this.#wanted.get(name)
  }

  /** Calls `onChange` with the name of whatever changes; gives how to stop. */
  watch(onChange: (name: string) => void): () => void {
    this.#watchers.add(onChange)
    return () => this.#watchers.delete(onChange)
  }

  set(deployment: Deployment): void {
    this.#wanted.set(deployment.name, deployment)
    this.#tell(deployment.name)
  }

  delete(name: string): void {
    this.#wanted.delete(name)
    this.#tell(name)
  }

  #tell(name: string): void {
    for (const watcher of this.#watchers) watcher(name)
  }
}
