// This folder is the screen with all queues.

import type { JSX } from 'preact'
import type { Overview as OverviewView, QueueRow } from '../../../src/wire.ts'
import { noChart } from '../chart/no-chart.ts'
import { WorkChart } from '../chart/work-chart.tsx'
import { UnreadQueueList } from '../failures/unread-queues.tsx'
import { session } from '../live/session.ts'
import { useView } from '../live/views.ts'
import { replaceLocation } from '../location/current-location.ts'
import { hashOf, type OverviewLocation, type QueueOrder } from '../location/location.ts'
import { rangeWords } from '../text/durations.ts'
import { atLeast, grouped, isCapped, many, rate } from '../text/figures.ts'
import { urgencies } from '../text/meanings.ts'
import { useHeldRows, useHold } from '../ui/held-rows.ts'
import { Icon } from '../ui/icon.tsx'
import { WhatIs } from '../ui/state-word.tsx'
import { NoQueues } from './no-queues.tsx'
import { QueueRowView } from './queue-row.tsx'
import { filterQueues, sortQueues } from './sort-queues.ts'

interface Column {
  readonly order: QueueOrder
  readonly title: string
  readonly hint?: string
  readonly state?: 'ready' | 'delayed' | 'backoff' | 'processing' | 'parked'
}

const columns: readonly Column[] = [
  { order: 'queue', title: 'Queue' },
  { order: 'ready', title: 'Ready', state: 'ready' },
  { order: 'delayed', title: 'Delayed', state: 'delayed' },
  { order: 'backoff', title: 'Backoff', state: 'backoff' },
  { order: 'processing', title: 'Processing', state: 'processing' },
  { order: 'parked', title: 'Parked', state: 'parked' },
  {
    order: 'oldest',
    title: 'Oldest',
    hint: 'age of the key that has been ready longest',
  },
  { order: 'in', title: 'In/s', hint: 'runs that became pending, per second' },
  { order: 'out', title: 'Out/s', hint: 'runs that ended, per second' },
  { order: 'failing', title: 'Err', hint: 'share of the ended runs that failed' },
  { order: 'wait', title: 'Wait p95', hint: '95 % of keys waited at most this long' },
  { order: 'work', title: 'Work p95', hint: '95 % of runs took at most this long' },
]

function Header({ location, column }: { location: OverviewLocation; column: Column }): JSX.Element {
  const { order, title, hint, state } = column
  const isSorted = location.order === order
  const sort = isSorted ? (order === 'queue' ? 'ascending' : 'descending') : 'none'
  return (
    <th
      role="columnheader"
      scope="col"
      class={order === 'queue' ? 'name-cell' : `figure ${order}-cell`}
      aria-sort={sort}
    >
      <span class="head">
        <button
          type="button"
          class="sort"
          title={hint}
          onClick={() => replaceLocation({ ...location, order: isSorted ? 'worst' : order })}
        >
          {title}
          {isSorted && <span aria-hidden="true">{order === 'queue' ? ' ↑' : ' ↓'}</span>}
        </button>
        {state !== undefined && <WhatIs state={state} />}
      </span>
    </th>
  )
}

/** A sum of counts, with a mark only if one of them is a lower bound. */
function total(rows: readonly QueueRow[], of: (row: QueueRow) => number): string {
  const sum = rows.reduce((all, row) => all + of(row), 0)
  return atLeast(
    sum,
    rows.some((row) => isCapped(of(row), row.counts)),
  )
}

/** A sum of the rates that are known, with how many queues that are if not all. */
function Rate({ rows, of }: { rows: readonly QueueRow[]; of: 'inPerSecond' | 'outPerSecond' }) {
  const known = rows.map(({ flow }) => flow[of]).filter((value) => value !== undefined)
  const isPart = known.length > 0 && known.length < rows.length
  return (
    <>
      {known.length === 0 ? '–' : rate(known.reduce((all, value) => all + value, 0))}
      {isPart && (
        <span class="unit" title="Queues for which it is known">
          {' '}
          of {known.length}
        </span>
      )}
    </>
  )
}

function Totals({ view }: { readonly view: OverviewView }): JSX.Element {
  const { queues, unread = [] } = view
  const isFine = ({ severity }: QueueRow) => ['good', 'calm'].includes(urgencies[severity])
  const worried = queues.filter((row) => !isFine(row)).length + unread.length
  return (
    <dl class="totals">
      <div class={worried > 0 ? 'worried' : 'fine'}>
        <dt>
          {view.stored > queues.length
            ? `${grouped(queues.length)} of ${many(view.stored, 'queue')}`
            : many(queues.length, 'queue')}
        </dt>
        <dd>
          <Icon name={worried > 0 ? 'warn' : 'good'} />
          {worried > 0
            ? `${grouped(worried)} ${worried === 1 ? 'needs' : 'need'} attention`
            : 'all healthy'}
        </dd>
      </div>
      <div>
        <dt>ready</dt>
        <dd>{total(queues, ({ counts }) => counts.ready)}</dd>
      </div>
      <div>
        <dt>delayed</dt>
        <dd>{total(queues, ({ counts }) => counts.delayed)}</dd>
      </div>
      <div>
        <dt>backoff</dt>
        <dd>{total(queues, ({ counts }) => counts.backoff)}</dd>
      </div>
      <div>
        <dt>processing</dt>
        <dd>{total(queues, ({ counts }) => counts.processing + counts.dirty)}</dd>
      </div>
      <div>
        <dt>parked</dt>
        <dd>{total(queues, ({ counts }) => counts.parked)}</dd>
      </div>
      <div>
        <dt>failed runs, {rangeWords[view.range]}</dt>
        <dd>
          <a
            class="link"
            href={hashOf({ at: 'failures', range: view.range })}
            title="Show the failures of every queue by code"
          >
            {grouped(view.chart.steps.reduce((sum, { failed }) => sum + failed, 0))}
          </a>
        </dd>
      </div>
      <div>
        <dt>in → out, per second</dt>
        <dd>
          <Rate rows={queues} of="inPerSecond" />
          <span class="faint"> → </span>
          <Rate rows={queues} of="outPerSecond" />
        </dd>
      </div>
    </dl>
  )
}

function Rows({ location, view }: { location: OverviewLocation; view: OverviewView }): JSX.Element {
  const hold = useHold()
  const wanted = sortQueues(filterQueues(view.queues, location.filter), location.order)
  const isPart = view.stored > view.queues.length
  const rows = useHeldRows(wanted, (row) => row.queue, hold.isHeld, hashOf(location))
  return (
    <>
      <table class="grid overview" role="table" aria-label="Queues">
        <thead role="rowgroup">
          <tr role="row">
            {columns.slice(0, 1).map((column) => (
              <Header key={column.order} location={location} column={column} />
            ))}
            <th role="columnheader" scope="col" class="severity-cell">
              <span class="head">State</span>
            </th>
            {columns.slice(1).map((column) => (
              <Header key={column.order} location={location} column={column} />
            ))}
            <th role="columnheader" scope="col" class="spark-cell">
              <span class="head">Ready, {rangeWords[view.range]}</span>
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup" {...hold.on}>
          {rows.map(({ id, row, isGone }) => (
            <QueueRowView key={id} row={row} isGone={isGone} range={view.range} />
          ))}
        </tbody>
      </table>
      {rows.length === 0 && (
        <p class="none">
          {isPart ? 'No queue that is shown has' : 'No queue has'} “{location.filter}” in its name.{' '}
          <button
            type="button"
            class="link"
            onClick={() => replaceLocation({ ...location, filter: '' })}
          >
            Show all
          </button>
        </p>
      )}
      <p class="table-foot">
        {isPart && (
          <span>
            {grouped(view.queues.length)} of {many(view.stored, 'queue')} are shown, sorted,
            filtered and added up.{' '}
            {location.filter !== '' && (
              <a
                class="link"
                href={hashOf({ at: 'queue', queue: location.filter, keys: {}, cursors: [] })}
              >
                Open the queue “{location.filter}”
              </a>
            )}{' '}
          </span>
        )}
        <span class={`held-note ${hold.isHeld ? 'on' : ''}`} aria-hidden="true">
          Rows keep their positions while you point at them.
        </span>
      </p>
    </>
  )
}

/** Every queue of the store, worst first. */
export function Overview({ location }: { readonly location: OverviewLocation }): JSX.Element {
  const view = useView('overview')
  if (view === undefined) return <p class="waiting">Loading the queues …</p>
  const isEmpty = view.queues.length === 0
  if (isEmpty && view.unread === undefined) {
    return <NoQueues driver={session.value?.driver ?? ''} listed={listsQueues()} />
  }
  return (
    <div class="screen">
      <h1 class="off-screen">All queues</h1>
      <div class="overview-top">
        <Totals view={view} />
        <label class="search">
          <Icon name="search" />
          <span class="off-screen">Filter by name</span>
          <input
            type="search"
            data-search
            placeholder="Filter queues"
            spellcheck={false}
            autocomplete="off"
            value={location.filter}
            onInput={(event) => replaceLocation({ ...location, filter: event.currentTarget.value })}
          />
          <span class="key-hint" aria-hidden="true">
            /
          </span>
        </label>
      </div>
      <UnreadQueueList unread={view.unread} />
      <section class="panel store-chart" aria-label="All queues over time">
        <WorkChart
          chart={view.chart}
          now={view.at}
          title="All queues"
          none={noChart(session.value?.capabilities.history !== false)}
        />
      </section>
      {!isEmpty && <Rows location={location} view={view} />}
    </div>
  )
}

function listsQueues(): boolean {
  return session.value?.capabilities.queues !== false
}
