import type { KeyInfo, LastError } from 'sluice'
import type { KeyStep, KeyView } from '../wire.ts'

/** How many steps and errors of a key are kept. */
const stepsMax = 50
const errorsMax = 10

/** How many keys are kept. */
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

/** A failed run, in the words that the store's record and an observation share. */
function failureWords(failures: number): string {
  return `failed, failure ${failures}`
}

/** The change between two reads in a few words; `undefined` if there was none. */
function noteOf(before: Seen, now: Seen): string | undefined {
  if (now.state === 'absent') {
    if (before.state === 'absent') return undefined
    return before.token === undefined ? 'deleted' : 'done and deleted'
  }
  const failed = now.failures - before.failures
  const words: string[] = []
  if (now.token !== undefined && now.token !== before.token)
    words.push(`claimed with token ${now.token}`)
  else if (before.token !== undefined && now.token === undefined) words.push('released')
  if (failed > 0) words.push(failureWords(now.failures))
  if (failed < 0) words.push('failures cleared')
  if (words.length === 0 && now.state === before.state) return undefined
  if (words.length === 0) words.push(`now ${now.state}`)
  return words.join(', ')
}

/** The steps that the stored row records. */
function stepsOfRow(info: KeyInfo | undefined, now: number): KeyStep[] {
  if (info === undefined) return []
  const { askedAt, readyAt, dueAt, why, held, failures, failedAt } = info
  const steps: KeyStep[] = []
  if (info.parked && held === undefined) {
    const at = failedAt ?? askedAt
    const note = failures > 0 ? `parked after failure ${failures}` : 'parked'
    return at === undefined ? [] : [{ at, to: 'parked', note, from: 'row' }]
  }
  if (askedAt !== undefined) {
    const isLater = dueAt !== undefined && held === undefined && dueAt > askedAt
    const to = isLater ? (why === 'backoff' ? 'backoff' : 'delayed') : 'ready'
    const note = to === 'backoff' ? failureWords(failures) : 'added'
    steps.push({ at: askedAt, to, note, from: 'row' })
    if (isLater && readyAt !== undefined && readyAt <= now) {
      steps.push({ at: readyAt, to: 'ready', note: 'became due', from: 'row' })
    }
  }
  if (held?.dirtySince !== undefined) {
    const note = 'added again while running'
    steps.push({ at: held.dirtySince, to: 'dirty', note, from: 'row' })
  }
  return steps
}

/** The changes of one key that were observed while it was shown. */
class KeyHistory {
  #last: Seen | undefined
  readonly #steps: KeyStep[] = []
  readonly #errors: SeenError[] = []

  record(info: KeyInfo | undefined, error: LastError | undefined, at: number): void {
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

  /** The time of a failure is known only if it happened between two reads. */
  #seeError(error: LastError, isNew: boolean, at: number): void {
    if (isNew || this.#errors.length === 0) {
      this.#errors.unshift(isNew ? { ...error, at } : error)
      if (this.#errors.length > errorsMax) this.#errors.pop()
    }
  }

  steps(info: KeyInfo | undefined, now: number): KeyStep[] {
    const ofRow = stepsOfRow(info, now)
    // What the row records was often observed too: its record has the exact time.
    const seen = this.#steps.filter(({ note }) => !ofRow.some((step) => note.endsWith(step.note)))
    // What was observed at the instant of a record came before it.
    return [...seen, ...ofRow].sort((a, b) => a.at - b.at).slice(-stepsMax)
  }

  get errors(): readonly SeenError[] {
    return [...this.#errors]
  }
}

/** The histories of the keys that were shown most recently. */
export class KeyHistories {
  /** In the order of the last read. */
  readonly #histories: Map<string, KeyHistory> = new Map()

  /** Records a read of a key and returns its history. */
  record(
    queue: string,
    key: string,
    info: KeyInfo | undefined,
    error: LastError | undefined,
    at: number,
  ): Pick<KeyView, 'steps' | 'errors'> {
    const id = JSON.stringify([queue, key])
    const trail = this.#histories.get(id) ?? new KeyHistory()
    this.#histories.delete(id)
    this.#histories.set(id, trail)
    for (const oldest of this.#histories.keys()) {
      if (this.#histories.size <= keysMax) break
      this.#histories.delete(oldest)
    }
    trail.record(info, error, at)
    return { steps: trail.steps(info, at), errors: trail.errors }
  }
}
