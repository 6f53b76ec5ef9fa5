import { durationBoundsMs } from '@sluice/core'
import { manyWords } from '@sluice/core/words'
import { formatAge, formatSpan } from '../duration.ts'
import { shown } from '../output/escape.ts'
import type { Paint } from '../output/paint.ts'
import { type Column, cutMiddle, cutTo, folded, Table } from '../output/table.ts'
import { counted, painted, type QueueRow, urgencyOf } from './queue-rows.ts'
import type { Rates } from './run-rates.ts'

/** A queue and the rates of its workers. */
export type TopRow = QueueRow & { readonly rates?: Rates }

/** A column of the screen. */
interface TopColumn {
  readonly title: string
  /** Columns with a lower number stay when there is no room for all of them. */
  readonly rank: number
  text(row: TopRow, paint: Paint): string
  /** The column by which rows are sorted, the largest value first. */
  value(row: TopRow): number
}

function rate(perSecond: number): string {
  return perSecond >= 100 ? String(Math.round(perSecond)) : perSecond.toFixed(1)
}

/** A quantile; durations beyond the last bound are only known to be longer. */
function span(ms: number | undefined): string {
  if (ms === undefined) return ''
  return `${ms > (durationBoundsMs.at(-1) ?? 0) ? '>' : ''}${formatSpan(ms)}`
}

function count(title: string, rank: number, of: (counts: TopRow['counts']) => number): TopColumn {
  return {
    title,
    rank,
    text: (row) => counted(of(row.counts), row),
    value: (row) => of(row.counts),
  }
}

const columns: readonly TopColumn[] = [
  {
    title: 'STATE',
    rank: 0,
    text: painted,
    value: urgencyOf,
  },
  count('READY', 1, ({ ready }) => ready),
  count('DELAYED', 11, ({ delayed }) => delayed),
  count('BACKOFF', 7, ({ backoff }) => backoff),
  count('PROCESSING', 9, ({ processing, dirty }) => processing + dirty),
  count('PARKED', 5, ({ parked }) => parked),
  {
    title: 'OLDEST',
    rank: 6,
    text: ({ oldestAgeMs }) => (oldestAgeMs === undefined ? '' : formatAge(oldestAgeMs)),
    value: ({ oldestAgeMs = -1 }) => oldestAgeMs,
  },
  {
    title: 'RUNS/S',
    rank: 2,
    text: ({ rates }) => (rates === undefined ? '' : rate(rates.runsPerSecond)),
    value: ({ rates }) => rates?.runsPerSecond ?? -1,
  },
  {
    title: 'FAILED',
    rank: 3,
    text: ({ rates }) =>
      rates?.failedRatio === undefined ? '' : `${(rates.failedRatio * 100).toFixed(1)}%`,
    value: ({ rates }) => rates?.failedRatio ?? -1,
  },
  {
    title: 'WAIT P95',
    rank: 10,
    text: ({ rates }) => span(rates?.waitP95Ms),
    value: ({ rates }) => rates?.waitP95Ms ?? -1,
  },
  {
    title: 'WORK P95',
    rank: 8,
    text: ({ rates }) => span(rates?.workP95Ms),
    value: ({ rates }) => rates?.workP95Ms ?? -1,
  },
  {
    title: 'BUSY',
    rank: 4,
    text: ({ rates }) => (rates === undefined ? '' : `${rates.busy}/${rates.slots}`),
    value: ({ rates }) => (rates === undefined ? -1 : rates.busy / Math.max(1, rates.slots)),
  },
]

/** The columns of `top --once`. */
export function topColumns(paint: Paint): readonly Column<TopRow>[] {
  return [
    { title: 'QUEUE', text: ({ queue }) => shown(queue) },
    ...columns.map(({ title, text }) => ({ title, text: (row: TopRow) => text(row, paint) })),
  ]
}

/** By how much a screen scrolls at a time, for keys that scroll. */
const scrolls: Readonly<Record<string, number>> = {
  '\u001b[A': -1,
  k: -1,
  '\u001b[B': 1,
  j: 1,
  '\u001b[5~': -10,
  '\u001b[6~': 10,
}

/** The least width of the names of queues. */
const nameMin = 16
const gap = 3

/** A warning, which takes the place of the title, may be longer than a line. */
const titleLinesMax = 4

/** The lines below the title: the header, a queue, and the foot. */
const otherLinesMin = 3

/** The screen of `top`, which keys of the keyboard change. */
export class TopScreen {
  #sort = 0
  #isReversed = false
  #filter = ''
  #isTyping = false
  #from = 0

  /** Handles a key; true if the command is to end. */
  press(key: string): boolean {
    if (this.#isTyping) {
      this.#type(key)
      return false
    }
    if (key === 'q') return true
    if (key === 's') this.#sort = (this.#sort + 1) % (columns.length + 1)
    else if (key === 'r') this.#isReversed = !this.#isReversed
    else if (key === '/') this.#isTyping = true
    else if (key === '\u001b') this.#filter = ''
    else this.#from = Math.max(0, this.#from + (scrolls[key] ?? 0))
    return false
  }

  #type(key: string): void {
    this.#from = 0
    if (key === '\r' || key === '\n') this.#isTyping = false
    else if (key === '\u001b') {
      this.#isTyping = false
      this.#filter = ''
    } else if (key === '\u007f' || key === '\b') {
      this.#filter = [...this.#filter].slice(0, -1).join('')
    } else if (/^[^\p{Cc}]$/u.test(key)) this.#filter += key
  }

  /** The lines of the screen. */
  lines(
    rows: readonly TopRow[],
    title: string,
    size: { readonly width: number; readonly height: number },
    paint: Paint,
  ): string[] {
    const { width, height } = size
    const found = this.#sorted(rows.filter(({ queue }) => queue.includes(this.#filter)))
    // One line more than the screen has would scroll the first ones away.
    const titles = folded(title, width, Math.min(titleLinesMax, height - otherLinesMin))
    const room = Math.max(1, height - titles.length - 2)
    this.#from = Math.min(this.#from, Math.max(0, found.length - room))
    const visible = found.slice(this.#from, this.#from + room)
    const fitting = this.#fitting(visible, width)
    const nameWidth = width - fitting.reduce((sum, one) => sum + gap + widthOf(one, visible), 0)
    const table = new Table<TopRow>(
      [
        { title: 'QUEUE', text: ({ queue }) => cutMiddle(shown(queue), nameWidth) },
        ...fitting.map(({ title: name, text }) => ({
          title: name,
          text: (row: TopRow) => text(row, paint) || '-',
        })),
      ],
      { wide: false, headers: true },
    )
    const [header = '', ...lines] = table.lines(visible)
    return [
      ...titles,
      paint('bold', cutTo(header, width)),
      ...lines,
      cutTo(this.#foot(found), width),
    ]
  }

  #sorted(rows: readonly TopRow[]): readonly TopRow[] {
    const by = this.#sort === columns.length ? undefined : columns[this.#sort]
    const sorted = rows.toSorted(
      (a, b) => (by === undefined ? 0 : by.value(b) - by.value(a)) || (a.queue < b.queue ? -1 : 1),
    )
    return this.#isReversed ? sorted.reverse() : sorted
  }

  /** The most important columns that have room beside the names. */
  #fitting(rows: readonly TopRow[], width: number): readonly TopColumn[] {
    let left = width - nameMin
    const kept = new Set<TopColumn>()
    for (const column of columns.toSorted((a, b) => a.rank - b.rank)) {
      left -= gap + widthOf(column, rows)
      if (left < 0) break
      kept.add(column)
    }
    return columns.filter((column) => kept.has(column))
  }

  #foot(rows: readonly TopRow[]): string {
    const by = columns[this.#sort]?.title ?? 'QUEUE'
    if (this.#isTyping) return `/${this.#filter}_   Enter keeps the filter, Esc drops it`
    const filter = this.#filter === '' ? '/ filters' : `/${this.#filter} (Esc drops it)`
    return `${manyWords(rows.length, 'queue')}   s sorts (${by}${this.#isReversed ? ', reversed' : ''})   r reverses   ${filter}   q quits`
  }
}

const plain: Paint = (_, text) => text

function widthOf(column: TopColumn, rows: readonly TopRow[]): number {
  return Math.max(column.title.length, ...rows.map((row) => column.text(row, plain).length || 1))
}
