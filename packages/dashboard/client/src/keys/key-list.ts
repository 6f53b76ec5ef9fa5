import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { KeyLines } from '../../../src/wire.ts'
import { messageOf, request } from '../live/ask.ts'
import { changes, heardAt, isPaused } from '../live/live.ts'
import { paramsOf, type QueueLocation } from '../location/location.ts'

/** A page of keys as it was last read. */
export interface KeyList {
  readonly lines: KeyLines | undefined
  readonly trouble: string | undefined
  /** The query that `lines` answers, to tell whether rows are the same as before. */
  readonly asked: string
}

/** How many keys are on a page. */
export const pageSize = 100

/** Reading keys is more work for the store than counting them, so it is done less often. */
const everyMs = 2_000
const everyMsIfFarApart = 10_000
const farApart = 2_000

/** What was read last for some questions: going back shows it while it is read anew. */
const known = new Map<string, KeyLines>()
const knownMax = 12

function keep(question: string, lines: KeyLines): void {
  known.delete(question)
  known.set(question, lines)
  for (const old of known.keys()) {
    if (known.size <= knownMax) break
    known.delete(old)
  }
}

function questionOf({ queue, keys, cursors }: QueueLocation): string {
  const params = paramsOf(keys)
  params.set('queue', queue)
  params.set('limit', String(pageSize))
  const cursor = cursors.at(-1)
  if (cursor !== undefined) params.set('cursor', cursor)
  return params.toString()
}

/**
 * The keys of a place; read again when the place changes, when somebody has changed something, and
 * now and then while it is live.
 */
export function useKeyList(place: QueueLocation): KeyList {
  const question = questionOf(place)
  const list = useSignal<KeyList>({
    lines: known.get(question),
    trouble: undefined,
    asked: question,
  })
  const reading = useRef<AbortController>(undefined)
  const readAt = useRef(0)
  const readAfter = useRef(0)

  const read = async () => {
    reading.current?.abort()
    const controller = new AbortController()
    reading.current = controller
    readAt.current = Date.now()
    readAfter.current = changes.peek()
    try {
      const lines = await request<KeyLines>(`api/keys?${question}`, { signal: controller.signal })
      if (controller.signal.aborted) return
      keep(question, lines)
      list.value = { lines, trouble: undefined, asked: question }
    } catch (error) {
      if (controller.signal.aborted) return
      list.value = { ...list.peek(), trouble: messageOf(error) }
    } finally {
      if (reading.current === controller) reading.current = undefined
    }
  }

  useEffect(() => {
    // What is typed is not asked letter by letter.
    const timer = setTimeout(() => void read(), list.peek().lines === undefined ? 0 : 120)
    return () => {
      clearTimeout(timer)
      reading.current?.abort()
    }
  }, [question])

  const heard = heardAt.value
  useEffect(() => {
    const isFar = (list.peek().lines?.lookedAt ?? 0) > farApart
    const isDue = Date.now() - readAt.current >= (isFar ? everyMsIfFarApart : everyMs)
    // What somebody did is shown at once, as it is in the counts; also where the page stands still.
    const isChanged = readAfter.current !== changes.peek()
    const isAsked = list.peek().asked === question
    if (!isAsked || reading.current !== undefined) return
    if (isChanged || (isDue && !isPaused.peek())) void read()
  }, [heard])

  return list.value
}
