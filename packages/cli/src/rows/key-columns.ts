import type { EpochMs } from '@sluice/core'
import type { KeyInfo } from 'sluice'
import { formatAge } from '../duration.ts'
import { oneLine, safeJson, shown } from '../output/escape.ts'
import type { Paint } from '../output/paint.ts'
import { type Column, cutTo } from '../output/table.ts'

/** The maximum length of an item and of an error in a table. */
const cellMax = 60

/** When a key runs, relative to now. */
function due({ dueAt, parked, held }: KeyInfo, now: EpochMs): string {
  if (dueAt === undefined) return ''
  if (parked) return 'never'
  if (dueAt > now) return `in ${formatAge(dueAt - now)}`
  return held === undefined ? 'now' : 'after this'
}

function stateWord({ state }: KeyInfo, paint: Paint): string {
  if (state === 'parked') return paint('red', state)
  if (state === 'backoff') return paint('yellow', state)
  return state === 'processing' || state === 'dirty' ? paint('green', state) : state
}

/** An error as one short line. */
export function errorLine({ lastError }: KeyInfo): string {
  if (lastError === undefined) return ''
  const { name, code, message } = lastError
  return oneLine(`${code ?? name}: ${message}`)
}

function itemText({ item, key }: KeyInfo): string {
  return item === key ? '' : safeJson(item)
}

/** The columns of `ls` and `get`, with ages as of `now`. */
export function keyColumns(paint: Paint, now: EpochMs): readonly Column<KeyInfo>[] {
  return [
    { title: 'KEY', text: ({ key }) => shown(key) },
    { title: 'STATE', text: (info) => stateWord(info, paint) },
    { title: 'FAILURES', text: ({ failures }) => String(failures) },
    { title: 'DUE', text: (info) => due(info, now) },
    {
      title: 'AGE',
      text: ({ askedAt }) => (askedAt === undefined ? '' : formatAge(now - askedAt)),
    },
    { title: 'PRIORITY', wide: true, text: ({ priority }) => String(priority) },
    { title: 'CRASHES', wide: true, text: ({ crashes }) => String(crashes) },
    { title: 'HOLDER', wide: true, text: ({ held }) => shownHolder(held?.holder) },
    { title: 'ITEM', wide: true, text: (info) => cutTo(itemText(info), cellMax) },
    { title: 'LAST ERROR', wide: true, text: (info) => cutTo(errorLine(info), cellMax) },
  ]
}

function shownHolder(holder: string | undefined): string {
  return holder === undefined ? '' : shown(holder)
}
