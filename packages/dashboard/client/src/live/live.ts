import { batch, computed, effect, signal } from '@preact/signals'
import type { About, Audit, Delta, StreamEvents, Views } from '../../../src/wire.ts'
import { currentLocation } from '../location/current-location.ts'
import type { PageLocation } from '../location/location.ts'
import { applyDelta } from './apply-delta.ts'
import { HttpError, messageOf, request } from './ask.ts'
import { announce, notify } from './notices.ts'
import { isSigningIn, loadSession, session } from './session.ts'
import { setStoreTime } from './store-time.ts'

/** How the page and the server are connected. */
export type Link = 'connecting' | 'live' | 'lost' | 'paused'

/** Why nothing new comes, and since when by this machine's clock. */
export interface Trouble {
  readonly what: 'store' | 'server'
  readonly words: string
  readonly since: number
}

/** Whether somebody wants the page to stand still. */
export const isPaused = signal(false)

export const link = signal<Link>('connecting')
export const trouble = signal<Trouble | undefined>(undefined)

/** When the last word came, by this machine's clock. */
export const heardAt = signal<number | undefined>(undefined)

/** What is known of each currentLocation: going back shows what was there while the news is on its way. */
const known = signal<ReadonlyMap<string, Views[About]>>(new Map())
const knownMax = 20

/** Rises when an action was taken, here or on another page, for what is read beside the views. */
export const changes = signal(0)

/** What the server refuses to show of the currentLocation, such as a queue of a name that cannot be. */
export const refusal = signal<string | undefined>(undefined)

function subjectOf(at: PageLocation): string {
  const params = new URLSearchParams({ about: at.at })
  if (at.at !== 'overview') params.set('queue', at.queue)
  if (at.at === 'key') params.set('key', at.key)
  return params.toString()
}

/** What the stream of the currentLocation is about; filters and pages make no difference to it. */
const subject = computed(() => subjectOf(currentLocation.value))

/** What is known of the currentLocation that is shown. */
export function useView<A extends About>(_about: A): Views[A] | undefined {
  return known.value.get(subject.value) as Views[A] | undefined
}

function keep(about: string, view: Views[About]): void {
  const next = new Map(known.peek())
  next.delete(about)
  next.set(about, view)
  for (const old of next.keys()) {
    if (next.size <= knownMax) break
    next.delete(old)
  }
  known.value = next
}

function viewOf(about: string): Promise<Views[About]> {
  const params = new URLSearchParams(about)
  const path = params.get('about') ?? 'overview'
  params.delete('about')
  return request(`api/${path}?${params}`)
}

/** Shows at once what an action did, and not only when the store is looked at again. */
export async function refresh(): Promise<void> {
  const about = subject.peek()
  changes.value = changes.peek() + 1
  try {
    const view = await viewOf(about)
    batch(() => {
      keep(about, view)
      heard(view.at)
    })
  } catch (error) {
    if (error instanceof HttpError && error.status === 401) return
    if (error instanceof HttpError && isForGood(error.status)) refusal.value = error.message
    else lost('server', messageOf(error))
  }
}

function heard(at: number): void {
  setStoreTime(at)
  heardAt.value = Date.now()
}

function lost(what: Trouble['what'], words: string, forMs = 0): void {
  if (trouble.peek() === undefined) {
    announce(what === 'store' ? `The store cannot be reached: ${words}` : 'The connection is lost.')
  }
  const since = trouble.peek()?.since ?? Date.now() - forMs
  batch(() => {
    trouble.value = { what, words, since }
    if (link.peek() !== 'paused') link.value = 'lost'
  })
}

function recovered(): void {
  if (trouble.peek() !== undefined) announce('Connected again.')
  batch(() => {
    trouble.value = undefined
    refusal.value = undefined
    link.value = 'live'
  })
}

const firstWaitMs = 500
const longestWaitMs = 5_000
/** The server says something every few seconds, even if nothing happens. */
const silenceMs = 45_000

/** One stream, opened again whenever it ends, until it is let go. */
function follow(about: string): () => void {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let watchdog: ReturnType<typeof setTimeout> | undefined
  let waitMs = firstWaitMs
  let isOver = false

  const stop = () => {
    source?.close()
    clearTimeout(timer)
    clearTimeout(watchdog)
  }

  const again = () => {
    stop()
    if (isOver) return
    timer = setTimeout(() => void check(), waitMs * (0.75 + Math.random() / 2))
    waitMs = Math.min(longestWaitMs, waitMs * 2)
  }

  // A stream that fails does not say why: a plain question does.
  const check = async () => {
    try {
      if (!(await loadSession()) || isOver) return
      const view = await viewOf(about)
      if (isOver) return
      keep(about, view)
      open()
    } catch (error) {
      if (isOver) return
      if (error instanceof HttpError && isForGood(error.status)) refusal.value = error.message
      else {
        lost(error instanceof HttpError && error.status > 0 ? 'store' : 'server', messageOf(error))
        again()
      }
    }
  }

  const on = <E extends keyof StreamEvents>(name: E, hear: (data: StreamEvents[E]) => void) => {
    source?.addEventListener(name, (event) => {
      clearTimeout(watchdog)
      watchdog = setTimeout(failed, silenceMs)
      const data = JSON.parse((event as MessageEvent<string>).data) as StreamEvents[E]
      batch(() => hear(data))
    })
  }

  const failed = () => {
    if (trouble.peek() === undefined) lost('server', 'the dashboard’s server does not answer')
    again()
  }

  const open = () => {
    stop()
    if (link.peek() !== 'lost') link.value = 'connecting'
    source = new EventSource(`api/stream?${about}`)
    source.onerror = failed
    on('snapshot', (view) => {
      waitMs = firstWaitMs
      keep(about, view)
      heard(view.at)
      recovered()
    })
    on('delta', (delta: Delta) => {
      const before = known.peek().get(about)
      if (before === undefined) return
      const view = applyDelta(before, delta)
      keep(about, view)
      heard(view.at)
      recovered()
    })
    on('ping', ({ at }) => {
      heard(at)
      if (known.peek().has(about)) recovered()
    })
    on('trouble', ({ message, sinceMs }) => {
      waitMs = firstWaitMs
      lost('store', message, sinceMs)
    })
    on('audit', (audit: Audit) => {
      notify('told', audit.words)
      changes.value = changes.peek() + 1
    })
  }

  open()
  return () => {
    isOver = true
    stop()
  }
}

/** The server understood, and will say the same the next time. */
function isForGood(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 408 && status !== 429
}

const isVisible = signal(document.visibilityState === 'visible')
document.addEventListener('visibilitychange', () => {
  isVisible.value = document.visibilityState === 'visible'
})

const isReady = computed(() => session.value !== undefined && !isSigningIn.value)

/** Follows the currentLocation that is shown, as long as it is seen and nobody wants it to stand still. */
export function startLive(): void {
  effect(() => {
    const about = subject.value
    refusal.value = undefined
    if (!isReady.value) return
    if (isPaused.value) {
      link.value = 'paused'
      if (!known.peek().has(about)) void refresh()
      return
    }
    if (!isVisible.value) return
    return follow(about)
  })
  effect(() => {
    document.title = titleOf(currentLocation.value)
  })
}

function titleOf(at: PageLocation): string {
  if (at.at === 'overview') return 'Sluice'
  return at.at === 'queue' ? `${at.queue} · Sluice` : `${at.key} · ${at.queue} · Sluice`
}
