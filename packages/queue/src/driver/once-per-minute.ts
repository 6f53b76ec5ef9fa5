import { systemClock } from '@sluice/core'

const minuteMs = 60_000

/** More kinds of error than this share one entry. */
const codesMax = 100

/** The kind of an error: its code, or else its name. */
function kindOf(error: unknown): string {
  try {
    const { code, name } = error as { readonly code?: unknown; readonly name?: unknown }
    return String(code ?? name)
  } catch {
    // The thrown value may be null, or a proxy that throws when a property is read.
    return ''
  }
}

/** Lets an error of each kind pass once a minute of real time. */
export class OncePerMinute {
  readonly #passed = new Map<string, { at: number; heldBack: number }>()

  isNew(error: unknown): boolean {
    return this.pass(kindOf(error)) !== undefined
  }

  /** How many of its kind were held back since the last one; `undefined` if this one is, too. */
  pass(kind: string): number | undefined {
    const now = systemClock.monotonicMs()
    const last = this.#passed.get(kind)
    if (last !== undefined && now - last.at < minuteMs) {
      last.heldBack += 1
      return undefined
    }
    if (this.#passed.size >= codesMax) this.#passed.clear()
    this.#passed.set(kind, { at: now, heldBack: 0 })
    return last?.heldBack ?? 0
  }
}
