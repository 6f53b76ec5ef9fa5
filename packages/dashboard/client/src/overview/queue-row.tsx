import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { HistoryRange, QueueRow } from '../../../src/wire.ts'
import { openRow } from '../location/current-location.ts'
import { hashOf } from '../location/location.ts'
import { quantileWords, rangeWords } from '../text/durations.ts'
import { counted, percent, rate } from '../text/figures.ts'
import { urgencies } from '../text/meanings.ts'
import { Icon } from '../ui/icon.tsx'
import { SlotBar } from '../ui/slot-bar.tsx'
import { Age } from '../ui/times.tsx'
import { Name, Visible } from '../ui/visible.tsx'
import { Sparkline } from './sparkline.tsx'

function Figure({
  title,
  text,
  tone = '',
  cell = '',
}: {
  readonly title: string
  readonly text: string
  readonly tone?: string
  /** The class of the column. */
  readonly cell?: string
}): JSX.Element {
  const isNothing = text === '0' || text === '–'
  return (
    <td role="cell" class={`figure ${cell} ${isNothing ? 'nothing' : tone}`} data-title={title}>
      {text}
    </td>
  )
}

function QueueCells({
  row,
  isGone,
  range,
}: {
  readonly row: QueueRow
  readonly isGone: boolean
  /** The range of the sparkline. */
  readonly range: HistoryRange
}): JSX.Element {
  const { queue, counts, flow, severity, reason } = row
  const location = { at: 'queue', queue, keys: {}, cursors: [] } as const
  const urgency = urgencies[severity]
  const { oldestReadyAt } = counts
  const held = counts.processing + counts.dirty
  const count = (value: number) => counted(value, counts)
  return (
    <tr
      role="row"
      data-row={queue}
      class={`row urgency-${urgency} ${isGone ? 'gone' : ''}`}
      onClick={(event) => openRow(event, location)}
    >
      <th role="rowheader" scope="row" class="name-cell">
        <a href={hashOf(location)} data-row-link>
          <Icon name={urgency} class={`glyph-${urgency}`} />
          <Name text={queue} />
        </a>
      </th>
      <td role="cell" class="severity-cell" data-title="State">
        <span class={`severity glyph-${urgency}`}>{isGone ? 'gone' : severity}</span>
        {reason !== '' && urgency !== 'good' && (
          <span class="remark" title={reason}>
            <Visible text={reason} />
          </span>
        )}
      </td>
      <Figure title="Ready" text={count(counts.ready)} tone="tone-ready" />
      <Figure title="Delayed" text={count(counts.delayed)} tone="tone-delayed" />
      <Figure title="Backoff" text={count(counts.backoff)} tone="tone-backoff" />
      <td role="cell" class="figure" data-title="Processing">
        <SlotBar busy={held} slots={row.slots} />
      </td>
      <Figure title="Parked" text={count(counts.parked)} tone="tone-parked" />
      <td
        role="cell"
        class={`figure ${oldestReadyAt === undefined ? 'nothing' : ''}`}
        data-title="Oldest"
      >
        {oldestReadyAt === undefined ? '–' : <Age at={oldestReadyAt} />}
      </td>
      <Figure title="In/s" text={rate(flow.inPerSecond)} />
      <Figure title="Out/s" text={rate(flow.outPerSecond)} />
      <Figure
        title="Err"
        text={percent(flow.errorRatio)}
        tone={severity === 'failing' ? 'tone-warn' : ''}
      />
      <Figure
        title="Wait p95"
        text={row.wait === undefined ? '–' : quantileWords(row.wait.p95)}
        cell="wait-cell"
      />
      <Figure title="Work p95" text={row.work === undefined ? '–' : quantileWords(row.work.p95)} />
      <td role="cell" class="spark-cell" data-title={`Ready, ${rangeWords[range]}`}>
        <Sparkline depths={row.depths} range={range} />
      </td>
    </tr>
  )
}

/** One queue of the overview. A row of an update is the same object if it did not change. */
export function QueueRowView({
  row,
  isGone,
  range,
}: Parameters<typeof QueueCells>[0]): JSX.Element {
  return useMemo(() => <QueueCells row={row} isGone={isGone} range={range} />, [row, isGone, range])
}
