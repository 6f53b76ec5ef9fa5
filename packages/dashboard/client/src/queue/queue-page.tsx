import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { QueueView } from '../../../src/wire.ts'
import { KeySection } from '../keys/key-section.tsx'
import { act } from '../live/act.ts'
import { useView } from '../live/live.ts'
import type { QueueLocation } from '../location/location.ts'
import { atLeast, counted } from '../text/figures.ts'
import { alarms, keyStates } from '../text/state-words.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { AddDialog } from '../ui/add-dialog.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { Name, Visible } from '../ui/visible.tsx'
import { FailurePanel } from './failure-panel.tsx'
import { FlowChart } from './flow-chart.tsx'
import { HistogramStrip } from './histogram-strip.tsx'
import { LeasePanel } from './lease-panel.tsx'
import { LimiterPanel } from './limiter-panel.tsx'
import { QueueStrip } from './queue-strip.tsx'
import { WorkerPanel } from './worker-panel.tsx'

function Buttons({ view }: { readonly view: QueueView }): JSX.Element {
  const open = useSignal<'add' | 'purge' | 'pause' | undefined>(undefined)
  const { queue, counts } = view
  const close = () => {
    open.value = undefined
  }
  const all = keyStates.reduce((sum, state) => sum + counts[state], 0)
  return (
    <div class="buttons">
      <ActionButton
        action="add"
        kind="main"
        onAct={() => {
          open.value = 'add'
        }}
      >
        <Icon name="plus" /> Add key
      </ActionButton>
      {counts.paused ? (
        <ActionButton action="resume" onAct={() => void act({ queue, action: 'resume' })}>
          <Icon name="processing" /> Resume
        </ActionButton>
      ) : (
        <ActionButton
          action="pause"
          onAct={() => {
            open.value = 'pause'
          }}
        >
          <Icon name="calm" /> Pause
        </ActionButton>
      )}
      <ActionButton
        action="purge"
        kind="danger"
        useless={all === 0 ? 'the queue is empty' : undefined}
        onAct={() => {
          open.value = 'purge'
        }}
      >
        Purge
      </ActionButton>
      {open.value === 'add' && <AddDialog queue={queue} onClose={close} />}
      {open.value === 'pause' && (
        <ConfirmDialog
          title={
            <>
              Pause <Name text={queue} />?
            </>
          }
          verb="Pause"
          onYes={() => act({ queue, action: 'pause' })}
          onClose={close}
        >
          <p>
            Workers stop taking keys until you resume; {counted(counts.ready, counts)} ready keys
            will wait. Running keys finish, and new adds are accepted.
          </p>
        </ConfirmDialog>
      )}
      {open.value === 'purge' && (
        <ConfirmDialog
          title={
            <>
              Purge <Name text={queue} />?
            </>
          }
          verb={`Remove ${atLeast(all, counts.capped)} keys`}
          typed={queue}
          isDangerous
          onYes={() => act({ queue, action: 'purge', confirm: queue, expected: all })}
          onClose={close}
        >
          <p>
            This deletes <b>{atLeast(all, counts.capped)} keys</b> with their failure counts. Runs
            in progress are not interrupted. This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </div>
  )
}

/** One queue: its health, workers, failures and keys. */
export function QueuePage({ place }: { readonly place: QueueLocation }): JSX.Element {
  const view = useView('queue')
  if (view === undefined) return <p class="waiting">Loading the queue …</p>
  const alarm = alarms[view.severity]
  return (
    <div class="screen">
      <div class="queue-head">
        <p class={`verdict alarm-${alarm}`}>
          <Icon name={alarm} class={`glyph-${alarm}`} />
          <strong class={`glyph-${alarm}`}>{view.severity}</strong>
          {view.reason !== '' && view.reason !== view.severity && (
            <span class="faint">
              <Visible text={view.reason} />
            </span>
          )}
        </p>
        <Buttons view={view} />
      </div>
      <QueueStrip view={view} />
      <div class="panels">
        <section class="panel wide" aria-label="In and out">
          <FlowChart view={view} />
        </section>
        <section class="panel" aria-label="Durations">
          <HistogramStrip title="Wait" histogram={view.waitHistogram} quantiles={view.wait} />
          <HistogramStrip title="Work" histogram={view.workHistogram} quantiles={view.work} />
        </section>
        <WorkerPanel view={view} />
        <FailurePanel view={view} />
        <LeasePanel view={view} />
        <LimiterPanel view={view} />
      </div>
      <KeySection place={place} />
    </div>
  )
}
