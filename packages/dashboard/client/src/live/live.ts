// This folder is the connection to the server: requests, the event stream, the session and actions.

import { batch, computed, effect, signal } from '@preact/signals'
import type { About, Audit, Delta, StreamEvents, Views } from '../../../src/wire.ts'
import { currentLocation } from '../location/current-location.ts'
import type { PageLocation } from '../location/location.ts'
import { visible } from '../text/visible-text.ts'
import { applyDelta } from './apply-delta.ts'
import { HttpError, messageOf, request } from './ask.ts'
import { announce, notify } from './notices.ts'
import { ownActions } from './own-actions.ts'
import { isSigningIn, loadSession, session } from './session.ts'
import { setStoreTime } from './store-time.ts'

/** The state of the connection to the server. */
export type Link = 'connecting' | 'live' | 'lost' | 'paused'

/** Why updates have stopped, and since when by the clock of the browser. */
export interface Trouble {
  /** `full`: no stream can be had; views are read at intervals instead. */
  readonly what: 'store' | 'server' | 'full'
  readonly words: string
  readonly since: number
}

/** Whether the user has paused updates. */
export const isPaused = signal(false)

export const link = signal<Link>('connecting')
export const trouble = signal<Trouble | undefined>(undefined)

/** When the last message came, by the clock of the browser. */
export const heardAt = signal<number | undefined>(undefined)

/** The last view of each location: going back shows it until the current one arrives. */
const known = signal<ReadonlyMap<string, Views[About]>>(new Map())
const knownMax = 20

/** Increases after every action, here or on another page, for data that is read outside of the views. */
export const changes = signal(0)

/** Why the server cannot show the location, such as an invalid queue name. */
export const refusal = signal<string | undefined>(undefined)

function subjectOf(at: PageLocation): string {
  const params = new URLSearchParams({ about: at.at })
  if (at.at !== 'overview' && at.queue !== undefined) params.set('queue', at.queue)
  if (at.at === 'key') params.set('key', at.key)
  else if (at.range !== undefined && at.range !== '5m') params.set('range', at.range)
  return params.toString()
}

/** The subject of the location's stream, which does not depend on filters and pages. */
const subject = computed(() => subjectOf(currentLocation.value))

function withoutRange(about: string): string {
  return about.replace(/&range=\w+$/, '')
}

/**
 * The view of the current location. Until that of another range arrives, the one before stays: a
 * screen that is replaced would lose the focus, the selected keys and what is opened.
 */
export function useView<A extends About>(_about: A): Views[A] | undefined {
  const about = subject.value
  let found = known.value.get(about)
  if (found === undefined) {
    const place = withoutRange(about)
    for (const [other, view] of known.value) if (withoutRange(other) === place) found = view
  }
  return found as Views[A] | undefined
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

/** Reads the view again at once, so that the result of an action shows before the next update. */
export async function refresh(): Promise<void> {
  const about = subject.peek()
  changes.value = changes.peek() + 1
  try {
    const view = await viewOf(about)
    batch(() => {
      keep(about, view)
      heard(view.at)
      // No stream that could say so is open then.
      if (isPaused.peek()) reachable()
    })
  } catch (error) {
    if (error instanceof HttpError && error.status === 401) return
    if (error instanceof HttpError && error.isForGood) refusal.value = error.message
    else lost('server', messageOf(error))
  }
}

function heard(at: number): void {
  setStoreTime(at)
  heardAt.value = Date.now()
}

function lost(what: Trouble['what'], words: string, forMs = 0): void {
  if (trouble.peek() === undefined) {
    announce(
      what === 'store'
        ? `Store unreachable: ${words}`
        : what === 'full'
          ? `No live updates: ${words}`
          : 'Connection lost.',
    )
  }
  const since = trouble.peek()?.since ?? Date.now() - forMs
  batch(() => {
    trouble.value = { what, words, since }
    if (link.peek() !== 'paused') link.value = what === 'full' ? 'connecting' : 'lost'
  })
}

function reachable(): void {
  if (trouble.peek() !== undefined) announce('Connected again.')
  trouble.value = undefined
}

function recovered(): void {
  batch(() => {
    reachable()
    refusal.value = undefined
    link.value = 'live'
  })
}

const firstWaitMs = 500
const longestWaitMs = 5_000
/** A stream without a message for this long is lost; the server sends one at least every 15 s. */
const silenceMs = 45_000
/** The first message of a stream comes sooner: a view, or why the store cannot be read. */
const firstSilenceMs = 20_000

/** A stream had no message, though the server answers requests: the next one is opened then. */
let heldBackUntil = 0
const heldBackMs = 300_000

function heldBack(): string | undefined {
  if (performance.now() >= heldBackUntil) return undefined
  return 'no event arrives, perhaps since a proxy holds them back'
}

/** Keeps one stream open, reconnecting until the returned function is called. */
function follow(about: string): () => void {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let watchdog: ReturnType<typeof setTimeout> | undefined
  let waitMs = firstWaitMs
  let isOver = false
  let isUnheard = true
  let isHeldBack = false

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

  // An EventSource does not report why it failed; a plain request does.
  const check = async () => {
    try {
      if (!(await loadSession()) || isOver) return
      const view = await viewOf(about)
      if (isOver) return
      keep(about, view)
      if (isHeldBack) heldBackUntil = performance.now() + heldBackMs
      isHeldBack = false
      const noStreamBecause = session.value?.noStreamBecause ?? heldBack()
      if (noStreamBecause === undefined) return open()
      heard(view.at)
      lost('full', noStreamBecause)
      again()
    } catch (error) {
      if (isOver) return
      // The server is silent altogether.
      isHeldBack = false
      if (error instanceof HttpError && error.isForGood) refusal.value = error.message
      else {
        const isOfStore = error instanceof HttpError && error.code.startsWith('ERR_')
        lost(isOfStore ? 'store' : 'server', messageOf(error))
        again()
      }
    }
  }

  const on = <E extends keyof StreamEvents>(name: E, hear: (data: StreamEvents[E]) => void) => {
    source?.addEventListener(name, (event) => {
      clearTimeout(watchdog)
      watchdog = setTimeout(failed, silenceMs)
      isUnheard = false
      const data = JSON.parse((event as MessageEvent<string>).data) as StreamEvents[E]
      batch(() => hear(data))
    })
  }

  const failed = () => {
    // The first stream may have been refused: then `check` learns why.
    if (trouble.peek() === undefined && !isUnheard)
      lost('server', 'the dashboard’s server does not answer')
    isUnheard = false
    again()
  }

  const open = () => {
    stop()
    if (link.peek() !== 'lost') link.value = 'connecting'
    source = new EventSource(`api/stream?${about}`)
    source.onerror = failed
    watchdog = setTimeout(() => {
      isHeldBack = true
      again()
    }, firstSilenceMs)
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
      const place = audit.queue === '' ? '' : `${audit.queue}: `
      if (!ownActions.take(audit)) notify('news', `${place}${audit.words}`)
      changes.value = changes.peek() + 1
    })
  }

  if (heldBack() === undefined) open()
  else void check()
  return () => {
    isOver = true
    stop()
  }
}

const isVisible = signal(document.visibilityState === 'visible')

/** Increases when the computer has slept: the connection may be dead, and nothing has said so. */
const wakes = signal(0)
const sleepMs = 20_000
let awakeAt = Date.now()

document.addEventListener('visibilitychange', () => {
  // Timers of a hidden page are late without a sleep.
  awakeAt = Date.now()
  isVisible.value = document.visibilityState === 'visible'
})

setInterval(() => {
  const now = Date.now()
  if (now - awakeAt > sleepMs) wakes.value += 1
  awakeAt = now
}, 1_000)

const isReady = computed(() => session.value !== undefined && !isSigningIn.value)

/** Follows the current location while the page is visible and updates are not paused. */
export function startLive(): void {
  effect(() => {
    const about = subject.value
    void wakes.value
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
  const queue = at.queue === undefined ? '' : `${visible(at.queue)} · `
  if (at.at === 'queue') return `${queue}Sluice`
  if (at.at === 'key') return `${visible(at.key)} · ${queue}Sluice`
  return `Failures · ${queue}Sluice`
}
