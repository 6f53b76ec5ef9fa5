import type { JSX } from 'preact'
import type { LeaseView, QueueView } from '../../../src/wire.ts'
import { storeTime } from '../live/store-time.ts'
import { hashOf } from '../location/location.ts'
import { atLeast } from '../text/figures.ts'
import { Panel } from '../ui/panel.tsx'
import { Scroll } from '../ui/scroll.tsx'
import { StateWord } from '../ui/state-word.tsx'
import { Until } from '../ui/times.tsx'
import { Name, Visible } from '../ui/visible.tsx'

function TimeLeft({ until }: { readonly until: number | undefined }): JSX.Element {
  if (until === undefined) return <span class="faint">no limit</span>
  if (until <= storeTime.value) return <span class="tone-bad">expired</span>
  return <Until at={until} />
}

function Lease({
  queue,
  lease,
  holder,
}: {
  readonly queue: string
  readonly lease: LeaseView
  readonly holder: string
}): JSX.Element {
  return (
    <tr>
      <th scope="row" class="name-cell">
        <a href={hashOf({ at: 'key', queue, key: lease.key })}>
          <Name text={lease.key} />
        </a>
      </th>
      <td>
        <StateWord state={lease.isDirty ? 'dirty' : 'processing'} />
      </td>
      <td class="figure">
        <TimeLeft until={lease.leaseUntil} />
      </td>
      <td class="figure">{lease.failures > 0 ? lease.failures : <span class="faint">0</span>}</td>
      <td class="name-cell">
        <span class="name faint" title={lease.holder}>
          <Visible text={holder} />
        </span>
      </td>
    </tr>
  )
}

/** The held keys, with their holders and the time left on their leases. */
export function LeasePanel({ view }: { readonly view: QueueView }): JSX.Element {
  const { leases, counts } = view
  const held = atLeast(counts.processing + counts.dirty, counts.capped)
  const holders = new Map(
    view.workerList.map(({ holder, host, pid }) => [holder, `${host}:${pid}`] as const),
  )
  return (
    <Panel
      title="Leases"
      kind="half"
      aside={leases.length > 0 && (view.more ? `${leases.length} of ${held}` : `${held} held`)}
      none={leases.length === 0 && 'No key is held.'}
    >
      <Scroll name="Held keys">
        <table class="small-grid">
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">State</th>
              <th scope="col" class="figure">
                Time left
              </th>
              <th scope="col" class="figure">
                Failures
              </th>
              <th scope="col">Holder</th>
            </tr>
          </thead>
          <tbody>
            {leases.map((lease) => (
              <Lease
                key={lease.key}
                queue={view.queue}
                lease={lease}
                holder={holders.get(lease.holder ?? '') ?? lease.holder ?? 'unknown'}
              />
            ))}
          </tbody>
        </table>
      </Scroll>
    </Panel>
  )
}
