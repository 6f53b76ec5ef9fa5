/** The machines that run, by the name that they run for. Starting one can fail. */
export class Machines {
  readonly #running = new Map<string, number>()
  readonly #mayStart: () => boolean

  constructor(mayStart: () => boolean) {
    this.#mayStart = mayStart
  }

  count(name: string): number {
    return this.#running.get(name) ?? 0
  }

  names(): string[] {
    return [...this.#running.keys()]
  }

  async start(name: string): Promise<void> {
    await Promise.resolve()
    if (!this.#mayStart()) throw new Error(`no machine is free for ${name}`)
    this.#running.set(name, this.count(name) + 1)
  }

  async stop(name: string): Promise<void> {
    await Promise.resolve()
    const left = this.count(name) - 1
    if (left > 0) this.#running.set(name, left)
    else this.#running.delete(name)
  }
}
