import type { KeyInfo, LastError } from 'sluice'
import type { KeyStep, KeyView } from '../wire.ts'

/** How many steps and errors of a key are remembered. */
const stepsMax = 50
const errorsMax = 10

/** How many keys are remembered. */
const keysMax = 500

type SeenError = KeyView['errors'][number]

interface Seen {
  readonly state: KeyStep['to']
  readonly failures: number
  readonly token: number | undefined
}

function seenOf(info: KeyInfo | undefined): Seen {
  if (info === undefined) return { state: 'absent', failures: 0, token: undefined }
  return { state: info.state, failures: info.failures, token: info.held?.token }
}

/** What happened between two looks, in a few words; `undefined` if nothing did. */
function noteOf(before: Seen, now: Seen): string | undefined {
  const failed = now.failures - before.failures
  const words: string[] = []
  if (now.token !== undefined && now.token !== before.token)
    words.push(`taken under token ${now.token}`)
  else if (before.token !== undefined && now.token === undefined) words.push('given back')
  if (failed > 0) words.push(failed === 1 ? 'failed once more' : `failed ${failed} times more`)
  if (failed < 0) words.push('its failures were forgotten')
  if (words.length === 0 && now.state === before.state) return undefined
  if (words.length === 0) words.push(now.state === 'absent' ? 'done, and gone' : `now ${now.state}`)
  return words.join(', ')
}

/** What the row itself says of the past. */
function stepsOfRow(info: KeyInfo | undefined, now: number): KeyStep[] {
  if (info === undefined) return []
  const { askedAt, readyAt, dueAt, why, held, failures } = info
  const steps: KeyStep[] = []
  if (askedAt !== undefined) {
    const isLater = dueAt !== undefined && held === undefined && dueAt > askedAt
    const to = isLater ? (why === 'backoff' ? 'backoff' : 'delayed') : 'ready'
    const note = to === 'backoff' ? `asked for again after failure ${failures}` : 'asked for'
    steps.push({ at: askedAt, to, note, from: 'row' })
    if (isLater && readyAt !== undefined && readyAt <= now) {
      steps.push({ at: readyAt, to: 'ready', note: 'the wait was over', from: 'row' })
    }
  }
  if (held?.dirtySince !== undefined) {
    const note = 'asked for again while it was worked on'
    steps.push({ at: held.dirtySince, to: 'dirty', note, from: 'row' })
  }
  return steps
}

/** What was seen of one key while somebody looked. */
class KeyTrail {
  #last: Seen | undefined
  readonly #steps: KeyStep[] = []
  readonly #errors: SeenError[] = []

  see(info: KeyInfo | undefined, error: LastError | undefined, at: number): void {
    const now = seenOf(info)
    const before = this.#last
    this.#last = now
    const isFirst = before === undefined
    const note = isFirst ? undefined : noteOf(before, now)
    if (note !== undefined) {
      this.#steps.push({ at, to: now.state, note, from: 'seen' })
      if (this.#steps.length > stepsMax) this.#steps.shift()
    }
    if (error !== undefined) this.#seeError(error, !isFirst && now.failures > before.failures, at)
  }

  /** Only of a failure that came between two looks is it known when it was. */
  #seeError(error: LastError, isNew: boolean, at: number): void {
    if (isNew || this.#errors.length === 0) {
      this.#errors.unshift(isNew ? { ...error, at } : error)
      if (this.#errors.length > errorsMax) this.#errors.pop()
    }
  }

  steps(info: KeyInfo | undefined, now: number): KeyStep[] {
    return [...stepsOfRow(info, now), ...this.#steps].sort((a, b) => a.at - b.at).slice(-stepsMax)
  }

  get errors(): readonly SeenError[] {
    return [...this.#errors]
  }
}

/** What was seen of the keys that somebody looked at, as far back as it is remembered. */
export class KeyTrails {
  /** Those looked at last come last. */
  readonly #trails: Map<string, KeyTrail> = new Map()

  /** Takes note of a look at a key; gives what is known of its past. */
  see(
    queue: string,
    key: string,
    info: KeyInfo | undefined,
    error: LastError | undefined,
    at: number,
  ): Pick<KeyView, 'steps' | 'errors'> {
    const id = JSON.stringify([queue, key])
    const trail = this.#trails.get(id) ?? new KeyTrail()
    this.#trails.delete(id)
    this.#trails.set(id, trail)
    for (const oldest of this.#trails.keys()) {
      if (this.#trails.size <= keysMax) break
      this.#trails.delete(oldest)
    }
    trail.see(info, error, at)
    return { steps: trail.steps(info, at), errors: trail.errors }
  }
}
