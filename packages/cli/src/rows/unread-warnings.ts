import type { Context } from '../context.ts'
import type { UnreadQueue } from '../output/printer.ts'
import { errorWords } from '../output/report-error.ts'

/** Warns of queues that a watch cannot read: of each once, and again only when the reason changes. */
export class UnreadWarnings {
  readonly #context: Context
  #known: ReadonlySet<string> = new Set()

  constructor(context: Context) {
    this.#context = context
  }

  /** Called with the unread queues of each read. */
  async warn(unread: readonly UnreadQueue[] = []): Promise<void> {
    const { print, secrets } = this.#context
    const texts = new Map(
      unread.map(({ queue, error }) => {
        const words = errorWords(error, secrets)
        return [`${queue} ${words}`, words]
      }),
    )
    for (const [id, words] of texts) if (!this.#known.has(id)) await print.warn(words)
    this.#known = new Set(texts.keys())
  }
}
