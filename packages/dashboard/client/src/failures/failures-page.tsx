// This folder is the screen of failed runs, of every queue or of one.

import type { JSX } from 'preact'
import { noChart } from '../chart/no-chart.ts'
import { WorkChart } from '../chart/work-chart.tsx'
import { session } from '../live/session.ts'
import { useView } from '../live/views.ts'
import { type FailuresLocation, hashOf } from '../location/location.ts'
import { rangeWords } from '../text/durations.ts'
import { atLeast, many } from '../text/figures.ts'
import { useHeldRows, useHold } from '../ui/held-rows.ts'
import { FailureRow } from './failure-row.tsx'
import { UnreadQueueList } from './unread-queues.tsx'

function everyQueue({ queue = '', ...rest }: FailuresLocation): FailuresLocation {
  return rest.code === undefined ? rest : { ...rest, codeOf: queue }
}

/** Failed runs by code: when, which keys, and what to do about all of them. */
export function FailuresPage({ location }: { readonly location: FailuresLocation }): JSX.Element {
  const view = useView('failures')
  const hold = useHold()
  const groups = view?.groups ?? []
  const { queue } = location
  const rows = useHeldRows(
    groups,
    (group) => JSON.stringify([group.queue, group.code]),
    hold.isHeld,
    `${queue} ${view?.range}`,
  )
  if (view === undefined) return <p class="waiting">Loading the failures …</p>
  const failed = groups.reduce((sum, group) => sum + group.failed, 0)
  const keys = groups.reduce((sum, group) => sum + group.keys, 0)
  const codes = new Set(groups.map(({ code }) => code)).size
  const queues = new Set(groups.map((group) => group.queue)).size
  const isPart = view.more || groups.some((group) => group.isPart === true)
  return (
    <div class="screen">
      <dl class="totals">
        <div>
          <dt>failed runs, {rangeWords[view.range]}</dt>
          <dd>{atLeast(failed, view.more)}</dd>
        </div>
        <div>
          <dt>error codes</dt>
          <dd>{atLeast(codes, isPart)}</dd>
        </div>
        <div>
          <dt>keys failing now</dt>
          <dd>{atLeast(keys, isPart)}</dd>
        </div>
        {queue === undefined && (
          <div>
            <dt>queues with failures</dt>
            <dd>{atLeast(queues, isPart)}</dd>
          </div>
        )}
      </dl>
      <UnreadQueueList unread={view.unread} />
      <section class="panel store-chart" aria-label="Work over time">
        <WorkChart
          chart={view.chart}
          now={view.at}
          title={queue === undefined ? 'All queues' : 'Work'}
          none={noChart(session.value?.capabilities.history !== false)}
        />
      </section>
      {groups.length === 0 ? (
        <p class="none panel">
          No failed run was recorded in the last {rangeWords[view.range]}, and no failing key was
          found.
        </p>
      ) : (
        <ol class="failure-rows" aria-label="Failures by code" {...hold.on}>
          {rows.map(({ id, row }) => (
            <FailureRow key={id} group={row} location={location} range={view.range} />
          ))}
        </ol>
      )}
      <p class="table-foot">
        {many(groups.length, 'group')}, the most failed runs first; an error without a code is
        listed by its name.
        {view.more && ' There are more than are shown.'}{' '}
        {queue !== undefined && (
          <a class="link" href={hashOf(everyQueue(location))}>
            Failures of every queue
          </a>
        )}
      </p>
    </div>
  )
}
