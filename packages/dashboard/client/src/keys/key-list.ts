import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { KeyLines } from '../../../src/wire.ts'
import { messageOf, request } from '../live/ask.ts'
import { heardAt, isPaused } from '../live/link.ts'
import { changes } from '../live/views.ts'
import { paramsOf, type QueueLocation } from '../location/location.ts'

/** The last page of keys that was read. */
export interface KeyList {
  readonly lines: KeyLines | undefined
  readonly trouble: string | undefined
  /** The query that `lines` answers, to tell whether rows are the same as before. */
  readonly asked: string
  /** Whether `lines` answers the query of the location, and not that of the one before. */
  readonly isCurrent: boolean
  /** Set if not all keys have been searched that may match: the search continues on its own. */
  readonly search?: {
    readonly lookedAt: number
    readonly isRunning: boolean
    toggle(): void
  }
}

/** The number of keys on a page. */
export const pageSize = 100

/** Reading keys costs the store more than counting them, so it is done less often. */
const everyMs = 2_000
const farApart = 10_000

/** The last pages that were read: going back shows one of them while it is read again. */
const known = new Map<string, KeyLines>()
const knownMax = 12

function keep(query: string, lines: KeyLines): void {
  known.delete(query)
  known.set(query, lines)
  for (const old of known.keys()) {
    if (known.size <= knownMax) break
    known.delete(old)
  }
}

function queryOf({ queue, keys, cursors }: QueueLocation): string {
  const params = paramsOf(keys)
  params.set('queue', queue)
  params.set('limit', String(pageSize))
  const cursor = cursors.at(-1)
  if (cursor !== undefined) params.set('cursor', cursor)
  return params.toString()
}

/** A page that is not full, with the keys that the next part of the search finds. */
async function withMore(query: string, lines: KeyLines, signal: AbortSignal): Promise<KeyLines> {
  const params = new URLSearchParams(query)
  params.set('cursor', lines.cursor ?? '')
  params.set('limit', String(pageSize - lines.keys.length))
  const more = await request<KeyLines>(`api/keys?${params}`, { signal })
  return {
    ...more,
    keys: [...lines.keys, ...more.keys],
    lookedAt: lines.lookedAt + more.lookedAt,
  }
}

/**
 * The keys of a location; read again when the location changes, after every action, and periodically
 * while updates are not paused.
 */
export function useKeyList(location: QueueLocation): KeyList {
  const query = queryOf(location)
  const list = useSignal<Omit<KeyList, 'isCurrent'>>({
    lines: known.get(query),
    trouble: undefined,
    asked: query,
  })
  const reading = useRef<AbortController>(undefined)
  /** By the clock that no correction of the time sets back. */
  const readAt = useRef(0)
  const readAfter = useRef(0)

  const isStopped = useRef(false)

  /** Shows what was found, and searches on until a page is full, all keys were read, or it is stopped. */
  const searchOn = async (from: KeyLines, controller: AbortController) => {
    let lines = from
    for (;;) {
      const isPart = lines.cursor !== undefined && lines.keys.length < pageSize
      const isRunning = isPart && !isStopped.current
      keep(query, lines)
      const { lookedAt } = lines
      list.value = {
        lines,
        trouble: undefined,
        asked: query,
        ...(isPart ? { search: { lookedAt, isRunning, toggle } } : {}),
      }
      if (!isRunning) return
      const { signal } = controller
      lines = await withMore(query, lines, signal)
      if (signal.aborted) return
    }
  }

  /** Of a search that was going on, the rest can be asked for. */
  const failed = (error: unknown) => {
    const { search, ...rest } = list.peek()
    const stopped = search === undefined ? {} : { search: { ...search, isRunning: false } }
    list.value = { ...rest, ...stopped, trouble: messageOf(error) }
  }

  const toggle = () => {
    const { lines, search, ...rest } = list.peek()
    if (lines === undefined || search === undefined) return
    isStopped.current = search.isRunning
    if (search.isRunning) {
      list.value = { ...rest, lines, search: { ...search, isRunning: false } }
      return
    }
    // What was asked for before the search was stopped: else two would go on, of which a new filter ends one.
    reading.current?.abort()
    const controller = new AbortController()
    reading.current = controller
    searchOn(lines, controller)
      .catch((error: unknown) => {
        if (!controller.signal.aborted) failed(error)
      })
      .finally(() => {
        if (reading.current === controller) reading.current = undefined
      })
  }

  const read = async () => {
    reading.current?.abort()
    const controller = new AbortController()
    reading.current = controller
    readAt.current = performance.now()
    readAfter.current = changes.peek()
    try {
      const lines = await request<KeyLines>(`api/keys?${query}`, { signal: controller.signal })
      if (controller.signal.aborted) return
      await searchOn(lines, controller)
    } catch (error) {
      if (!controller.signal.aborted) failed(error)
    } finally {
      if (reading.current === controller) reading.current = undefined
    }
  }

  useEffect(() => {
    isStopped.current = false
    // While the user types, not every letter is a request.
    const timer = setTimeout(() => void read(), list.peek().lines === undefined ? 0 : 120)
    return () => {
      clearTimeout(timer)
      reading.current?.abort()
    }
  }, [query])

  const heard = heardAt.value
  useEffect(() => {
    const isFar = (list.peek().lines?.lookedAt ?? 0) > farApart
    // A long search is not begun again on its own.
    if (isFar && readAfter.current === changes.peek()) return
    const isDue = performance.now() - readAt.current >= everyMs
    // The result of an action is shown at once, like the counts, even while updates are paused.
    const isChanged = readAfter.current !== changes.peek()
    const isAsked = list.peek().asked === query
    if (!isAsked || reading.current !== undefined) return
    if (isChanged || (isDue && !isPaused.peek())) void read()
  }, [heard])

  return { ...list.value, isCurrent: list.value.asked === query }
}
