import { accepted, type StandardSchema, validate } from './schema.ts'

/**
 * Checks items against a schema before they are added. Several are checked concurrently, but they
 * are let through in the order of the calls, so that the last item added wins.
 */
export class ItemAdmission<T> {
  readonly #schema: StandardSchema<T>
  readonly #timeoutMs: number
  /** Resolves when every earlier call has been let through or refused. */
  #before: Promise<void> = Promise.resolve()

  /** `timeoutMs`: how long the schema may take for an item, and so hold up the adds behind it. */
  constructor(schema: StandardSchema<T>, timeoutMs: number) {
    this.#schema = schema
    this.#timeoutMs = timeoutMs
  }

  /** Calls `go` once all of `items` are valid and it is their turn. */
  async pass<R>(items: readonly T[], go: () => Promise<R>): Promise<R> {
    const before = this.#before
    let leave: () => void = () => undefined
    this.#before = new Promise((resolve) => {
      leave = resolve
    })
    try {
      const [checked] = await Promise.allSettled([this.#check(items), before])
      if (checked.status === 'rejected') throw checked.reason
      return go()
    } finally {
      leave()
    }
  }

  async #check(items: readonly T[]): Promise<void> {
    const checks = items.map(async (item) => {
      accepted(await validate(this.#schema, item, this.#timeoutMs))
    })
    await Promise.all(checks)
  }
}
