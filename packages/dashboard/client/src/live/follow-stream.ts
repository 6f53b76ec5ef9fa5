import { batch } from '@preact/signals'
import type { About, Audit, Delta, StreamEvents, Views } from '../../../src/wire.ts'
import { applyDelta } from './apply-delta.ts'
import { HttpError } from './ask.ts'
import { heard, link, lost, recovered, refusal, trouble, unread } from './link.ts'
import { mayStream } from './may-stream.ts'
import { notify } from './notices.ts'
import { ownActions } from './own-actions.ts'
import { checkVersion } from './reload-reason.ts'
import { loadSession, session } from './session.ts'
import { changes, keepView, keptView, lostBy, readView, stillSo } from './views.ts'

const firstWaitMs = 500
const longestWaitMs = 5_000
/** A stream without a message for this long is lost; the server sends one at least every 15 s. */
const silenceMs = 45_000
/** The first message of a stream comes sooner: a view, or why the store cannot be read. */
const firstSilenceMs = 20_000

/** A stream had no message, though the server answers requests: the next one is opened then. */
let heldBackUntil = 0
const heldBackMs = 300_000

/** Why no stream is to be opened now; `undefined` if one may be. */
async function whyNoStream(): Promise<string | undefined> {
  if (performance.now() < heldBackUntil) {
    return 'no event arrives, perhaps since a proxy holds them back'
  }
  if (await mayStream()) return undefined
  return 'other windows of this browser have them, and its connections are few'
}

/** One subject's stream: opened again whenever it is lost, until it is stopped. */
class StreamFollower {
  readonly #about: string
  #source: EventSource | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #watchdog: ReturnType<typeof setTimeout> | undefined
  #waitMs = firstWaitMs
  #isOver = false
  #isUnheard = true
  #isHeldBack = false
  /** What the stream has brought. Its changes are changes to that, and not to what was read after an action. */
  #view: Views[About] | undefined

  constructor(about: string) {
    this.#about = about
  }

  async start(): Promise<void> {
    const isAllowed = (await whyNoStream()) === undefined
    if (this.#isOver) return
    if (isAllowed) this.#open()
    else await this.#check()
  }

  stop(): void {
    this.#isOver = true
    this.#close()
  }

  #close(): void {
    this.#source?.close()
    clearTimeout(this.#timer)
    clearTimeout(this.#watchdog)
  }

  #again(): void {
    this.#close()
    if (this.#isOver) return
    this.#timer = setTimeout(() => void this.#check(), this.#waitMs * (0.75 + Math.random() / 2))
    this.#waitMs = Math.min(longestWaitMs, this.#waitMs * 2)
  }

  /** An EventSource does not report why it failed; a plain request does. */
  async #check(): Promise<void> {
    try {
      if (!(await loadSession()) || this.#isOver) return
      void checkVersion()
      const view = await readView(this.#about)
      if (this.#isOver) return
      keepView(this.#about, view)
      if (this.#isHeldBack) heldBackUntil = performance.now() + heldBackMs
      this.#isHeldBack = false
      const noStreamBecause = session.value?.noStreamBecause ?? (await whyNoStream())
      if (this.#isOver) return
      if (noStreamBecause === undefined) return this.#open()
      heard(view.at)
      lost('full', noStreamBecause)
      this.#again()
    } catch (error) {
      if (this.#isOver) return
      // The server is silent altogether.
      this.#isHeldBack = false
      if (error instanceof HttpError && error.isForGood) refusal.value = error.message
      else {
        lostBy(error)
        this.#again()
      }
    }
  }

  #failed(): void {
    // The first stream may have been refused: then the check learns why.
    if (trouble.peek() === undefined && !this.#isUnheard)
      lost('server', 'the dashboard’s server does not answer')
    this.#isUnheard = false
    this.#again()
  }

  #open(): void {
    this.#close()
    this.#view = undefined
    if (link.peek() !== 'lost') link.value = 'connecting'
    this.#source = new EventSource(`api/stream?${this.#about}`)
    this.#source.onerror = () => this.#failed()
    this.#watchdog = setTimeout(() => {
      this.#isHeldBack = true
      this.#again()
    }, firstSilenceMs)
    this.#listen()
  }

  #listen(): void {
    const about = this.#about
    this.#on('snapshot', (view) => {
      this.#waitMs = firstWaitMs
      this.#view = view
      keepView(about, view)
      heard(view.at)
      recovered()
    })
    this.#on('delta', (delta: Delta) => {
      if (this.#view === undefined) return
      const view = applyDelta(this.#view, delta)
      this.#view = view
      keepView(about, view)
      heard(view.at)
      recovered()
    })
    this.#on('ping', ({ at }) => {
      stillSo(about)
      heard(at)
      const shown = keptView(about)
      // The store has changed back since the read after an action: the stream brings no change then.
      if (shown !== this.#view && this.#view !== undefined && (shown?.at ?? at) < at) {
        keepView(about, this.#view)
      }
      if (shown !== undefined) recovered()
    })
    this.#on('trouble', ({ code, message, sinceMs }) => {
      this.#waitMs = firstWaitMs
      unread(code, message, sinceMs)
    })
    this.#on('audit', (audit: Audit) => {
      const source = audit.queue === '' ? '' : `${audit.queue}: `
      if (!ownActions.take(audit)) notify('news', `${source}${audit.words}`)
      changes.value = changes.peek() + 1
    })
  }

  #on<E extends keyof StreamEvents>(name: E, hear: (data: StreamEvents[E]) => void): void {
    this.#source?.addEventListener(name, (event) => {
      clearTimeout(this.#watchdog)
      this.#watchdog = setTimeout(() => this.#failed(), silenceMs)
      this.#isUnheard = false
      const data = JSON.parse((event as MessageEvent<string>).data) as StreamEvents[E]
      batch(() => hear(data))
    })
  }
}

/** Keeps the stream of a subject open, reconnecting until the returned function is called. */
export function followStream(about: string): () => void {
  const follower = new StreamFollower(about)
  void follower.start()
  return () => follower.stop()
}
