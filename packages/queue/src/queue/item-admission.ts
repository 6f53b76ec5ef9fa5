import type { Awaitable } from '@sluice/core'
import { accepted, type StandardSchema, validate } from './schema.ts'

/**
 * Checks items against a schema before they are added. Several are checked concurrently, but they
 * are let through in the order of the calls, so that the last item added wins.
 */
export class ItemAdmission<T> {
  readonly #schema: StandardSchema<T>
  readonly #timeoutMs: number
  /** Resolves when every earlier call has been let through or refused. */
  #before: Promise<unknown> = Promise.resolve()

  /** `timeoutMs`: how long the schema may take for an item, and so hold up the adds behind it. */
  constructor(schema: StandardSchema<T>, timeoutMs: number) {
    this.#schema = schema
    this.#timeoutMs = timeoutMs
  }

  /** Calls `go` once all of `items` are valid and it is their turn. */
  async pass<R>(items: readonly T[], go: () => Awaitable<R>): Promise<R> {
    const checks = items.map(async (item, at) => {
      const name = items.length > 1 ? `items[${at}]` : 'item'
      accepted(await validate(this.#schema, item, this.#timeoutMs), name)
    })
    const checked = Promise.all(checks)
    this.#before = Promise.allSettled([checked, this.#before])
    await this.#before
    await checked
    return go()
  }
}
