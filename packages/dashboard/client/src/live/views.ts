import { batch, computed, signal } from '@preact/signals'
import type { About, Views } from '../../../src/wire.ts'
import { currentLocation } from '../location/current-location.ts'
import type { PageLocation } from '../location/location.ts'
import { HttpError, messageOf, request } from './ask.ts'
import { heard, isPaused, lost, reachable, refusal, unread } from './link.ts'

/** The last view of each location: going back shows it until the current one arrives. */
const known = signal<ReadonlyMap<string, Views[About]>>(new Map())
const knownMax = 20

/** When each of them was so last, by the clock of the browser. */
const soAt = new Map<string, number>()

/** Increases after every action, here or on another page, for data that is read outside of the views. */
export const changes = signal(0)

function subjectOf(at: PageLocation): string {
  const params = new URLSearchParams({ about: at.at })
  if (at.at !== 'overview' && at.queue !== undefined) params.set('queue', at.queue)
  if (at.at === 'key') params.set('key', at.key)
  else if (at.range !== undefined && at.range !== '5m') params.set('range', at.range)
  return params.toString()
}

/** The subject of the location's stream, which does not depend on filters and pages. */
export const subject = computed(() => subjectOf(currentLocation.value))

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
    const wanted = withoutRange(about)
    for (const [other, view] of known.value) if (withoutRange(other) === wanted) found = view
  }
  return found as Views[A] | undefined
}

/** The last view of a subject; `undefined` if it was never read, or long ago. */
export function keptView(about: string): Views[About] | undefined {
  return known.peek().get(about)
}

export function keepView(about: string, view: Views[About]): void {
  const next = new Map(known.peek())
  next.delete(about)
  next.set(about, view)
  soAt.set(about, Date.now())
  for (const old of next.keys()) {
    if (next.size <= knownMax) break
    next.delete(old)
    soAt.delete(old)
  }
  known.value = next
}

/** Notes that the view of a subject is still so. */
export function stillSo(about: string): void {
  if (soAt.has(about)) soAt.set(about, Date.now())
}

/** When what is shown was so last; `undefined` while nothing is, or only another range. */
export function shownAt(): number | undefined {
  return known.value.has(subject.value) ? soAt.get(subject.value) : undefined
}

/** Reads the view of a subject. */
export function readView(about: string): Promise<Views[About]> {
  const params = new URLSearchParams(about)
  const path = params.get('about') ?? 'overview'
  params.delete('about')
  return request(`api/${path}?${params}`)
}

/** Notes that there are no updates after a request has failed: the server has answered if the store did not. */
export function lostBy(error: unknown): void {
  const isOfStore = error instanceof HttpError && error.code.startsWith('ERR_')
  if (isOfStore) unread(error.code, error.message)
  else lost('server', messageOf(error))
}

/** Reads the view again at once, so that the result of an action shows before the next update. */
export async function refresh(): Promise<void> {
  const about = subject.peek()
  changes.value = changes.peek() + 1
  try {
    const view = await readView(about)
    batch(() => {
      keepView(about, view)
      heard(view.at)
      // No stream that could say so is open then.
      if (isPaused.peek()) reachable()
    })
  } catch (error) {
    // What is shown by then may well be read.
    if (about !== subject.peek()) return
    if (error instanceof HttpError && error.status === 401) return
    if (error instanceof HttpError && error.isForGood) refusal.value = error.message
    else lostBy(error)
  }
}
