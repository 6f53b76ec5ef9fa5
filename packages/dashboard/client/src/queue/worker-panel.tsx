import type { JSX } from 'preact'
import type { QueueView, WorkerView } from '../../../src/wire.ts'
import { session } from '../live/session.ts'
import { storeTime } from '../live/store-time.ts'
import { hashOf } from '../location/location.ts'
import { duration } from '../text/durations.ts'
import { many } from '../text/figures.ts'
import { Panel } from '../ui/panel.tsx'
import { Scroll } from '../ui/scroll.tsx'
import { SlotBar } from '../ui/slot-bar.tsx'
import { Age } from '../ui/times.tsx'
import { Name, Visible } from '../ui/visible.tsx'

function Heartbeat({ worker }: { readonly worker: WorkerView }): JSX.Element {
  return (
    <span class={worker.isGone ? 'tone-warn' : ''}>
      <Age at={worker.seenAt} />
      {worker.isGone && ', gone'}
    </span>
  )
}

function Worker({
  queue,
  worker,
  p99,
}: {
  queue: string
  worker: WorkerView
  p99: number
}): JSX.Element {
  const { host, pid, longest } = worker
  const forMs = Math.max(0, storeTime.value - (longest?.since ?? 0))
  return (
    <tr class={worker.isGone ? 'faint' : ''}>
      <th scope="row" class="name-cell">
        <span class="name" title={worker.holder}>
          <Visible text={`${host}:${pid}`} />
        </span>
      </th>
      <td class="figure">
        {worker.isGone ? (
          <span class="faint">–</span>
        ) : (
          <SlotBar busy={worker.busy ?? 0} slots={worker.concurrency} />
        )}
      </td>
      <td class="figure">
        <Heartbeat worker={worker} />
      </td>
      <td class="figure">
        <Age at={worker.startedAt} />
      </td>
      <td>
        {longest === undefined ? (
          <span class="faint">–</span>
        ) : (
          <span class={`longest ${forMs > p99 * 2 ? 'tone-warn' : ''}`}>
            <a href={hashOf({ at: 'key', queue, key: longest.key })}>
              <Name text={longest.key} />
            </a>{' '}
            <span class="figures">{duration(forMs)}</span>
          </span>
        )}
      </td>
    </tr>
  )
}

/** How many workers take keys, and how many are gone. */
function workersWords({ workers, gone }: QueueView): string {
  return gone === 0 ? many(workers, 'worker') : `${many(workers, 'worker')}, ${gone} gone`
}

/** The workers of the queue. */
export function WorkerPanel({ view }: { readonly view: QueueView }): JSX.Element {
  const { workerList } = view
  const p99 = Math.max(1_000, view.work?.p99 ?? 0)
  const none =
    session.value?.capabilities.workers === false
      ? 'This store keeps no list of workers.'
      : 'No worker was seen in the last minute. Start one with createWorker({ queue, handler }).'
  return (
    <Panel
      title="Workers"
      kind="wide"
      aside={workerList.length > 0 && workersWords(view)}
      none={workerList.length === 0 && none}
    >
      <Scroll name="Workers, one by one">
        <table class="small-grid">
          <thead>
            <tr>
              <th scope="col">Worker</th>
              <th scope="col" class="figure">
                Busy
              </th>
              <th scope="col" class="figure">
                Heartbeat
              </th>
              <th scope="col" class="figure">
                Up
              </th>
              <th scope="col">Longest run</th>
            </tr>
          </thead>
          <tbody>
            {workerList.map((worker) => (
              <Worker key={worker.holder} queue={view.queue} worker={worker} p99={p99} />
            ))}
          </tbody>
        </table>
      </Scroll>
    </Panel>
  )
}
