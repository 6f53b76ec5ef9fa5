import { SluiceTypeError } from '@sluice/core'
import { issueText, type StandardSchema } from './schema.ts'

/**
 * Checks items against a schema before they are added. Several are checked at the same time, but
 * they are let through in the order of the calls, so that the item added last is the one that stays.
 */
export class ItemAdmission<T> {
  readonly #schema: StandardSchema<T>
  /** Resolves when everything that came before has been let through or refused. */
  #before: Promise<void> = Promise.resolve()

  constructor(schema: StandardSchema<T>) {
    this.#schema = schema
  }

  /** Calls `go` once all of `items` have turned out well and it is their turn. */
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
    await Promise.all(items.map((item) => this.#checkOne(item)))
  }

  async #checkOne(item: T): Promise<void> {
    const result = await this.#schema['~standard'].validate(item)
    if (result.issues === undefined) return
    throw new SluiceTypeError('item', `must match the schema: ${issueText(result.issues)}`)
  }
}
