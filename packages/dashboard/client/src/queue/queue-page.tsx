// This folder is the screen of one queue; its keys are in `keys/`.

import { useSignal } from '@preact/signals'
import { type KnownSince, keyStateWords, sinceWords } from '@sluice/core/words'
import type { JSX } from 'preact'
import type { KeyQuery, QueueView } from '../../../src/wire.ts'
import { noChart } from '../chart/no-chart.ts'
import { WorkChart } from '../chart/work-chart.tsx'
import { KeySection } from '../keys/key-section.tsx'
import { act } from '../live/act.ts'
import { trouble } from '../live/link.ts'
import { session } from '../live/session.ts'
import { storeTime } from '../live/store-time.ts'
import { useView } from '../live/views.ts'
import { hashOf, type QueueLocation } from '../location/location.ts'
import { clockTime, duration, isoTime } from '../text/durations.ts'
import { counted, manyKeys } from '../text/figures.ts'
import { urgencies } from '../text/meanings.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { AddDialog } from '../ui/add-dialog.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { Name, Visible } from '../ui/visible.tsx'
import { FailurePanel } from './failure-panel.tsx'
import { HistogramStrip } from './histogram-strip.tsx'
import { LeasePanel } from './lease-panel.tsx'
import { LimiterPanel } from './limiter-panel.tsx'
import { QueueStrip } from './queue-strip.tsx'
import { WorkerPanel } from './worker-panel.tsx'

function PurgeDialog({
  queue,
  keys,
  onClose,
}: {
  readonly queue: string
  /** How many there are. */
  readonly keys: string
  readonly onClose: () => void
}): JSX.Element {
  return (
    <ConfirmDialog
      title={
        <>
          Purge <Name text={queue} />?
        </>
      }
      verb={`Purge ${keys}`}
      typed={queue}
      isDangerous
      onYes={() => act({ queue, action: 'purge', confirm: queue })}
      onClose={onClose}
    >
      <p>
        This deletes <b>{keys}</b> with their failure counts. Runs in progress are not interrupted.
        This cannot be undone.
      </p>
    </ConfirmDialog>
  )
}

function Buttons({ view }: { readonly view: QueueView }): JSX.Element {
  const open = useSignal<'add' | 'purge' | 'pause' | undefined>(undefined)
  const { queue, counts } = view
  const close = () => {
    open.value = undefined
  }
  const all = keyStateWords.reduce((sum, state) => sum + counts[state], 0)
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
            Workers stop taking keys until you resume; {counted(counts.ready, counts)} ready{' '}
            {counts.ready === 1 ? 'key' : 'keys'} will wait. Running keys finish, and new adds are
            accepted.
          </p>
        </ConfirmDialog>
      )}
      {open.value === 'purge' && (
        <PurgeDialog queue={queue} keys={manyKeys(all, counts.capped)} onClose={close} />
      )}
    </div>
  )
}

/** Since when the queue is in its state; the exact time on hover. */
function Since({ since }: { readonly since: KnownSince }): JSX.Element {
  const { at, withinMs } = since
  const exact = withinMs === 0 ? '' : `, give or take ${duration(withinMs)}`
  return (
    <time
      dateTime={isoTime(at)}
      title={`since ${clockTime(at, storeTime.peek()).slice(0, -4)}${exact}`}
    >
      {sinceWords(since, storeTime.value)}
    </time>
  )
}

/** Where to look for the cause of the state. */
function NextStep({ view }: { readonly view: QueueView }): JSX.Element | null {
  const { queue, severity } = view
  const keysWith = (keys: KeyQuery) => hashOf({ at: 'queue', queue, keys, cursors: [] })
  if (severity === 'parked') {
    return (
      <a class="verdict-link" href={keysWith({ state: 'parked' })}>
        See the parked keys
      </a>
    )
  }
  if (severity !== 'failing') return null
  return (
    <a class="verdict-link" href={keysWith({ failuresMin: 1 })}>
      See the failing keys
    </a>
  )
}

/** Shown for a queue that the store does not list. */
function NoQueue({ view }: { readonly view: QueueView }): JSX.Element {
  const open = useSignal(false)
  const { queue, similar } = view
  return (
    <div class="empty">
      <h1>
        No queue is called <Name text={queue} />
      </h1>
      <p>
        A queue appears here as soon as its first key is added; this page shows it then. A queue
        without keys, workers and a pause is not listed.
      </p>
      {similar.length > 0 && (
        <p>
          Did you mean{' '}
          {similar.map((name, index) => (
            <span key={name}>
              {index > 0 && ' or '}
              <a class="link" href={hashOf({ at: 'queue', queue: name, keys: {}, cursors: [] })}>
                <Visible text={name} />
              </a>
            </span>
          ))}
          ?
        </p>
      )}
      <div class="buttons">
        <ActionButton
          action="add"
          kind="main"
          onAct={() => {
            open.value = true
          }}
        >
          <Icon name="plus" /> Add key
        </ActionButton>
        <a class="button" href="#/">
          All queues
        </a>
      </div>
      {open.value && (
        <AddDialog
          queue={queue}
          onClose={() => {
            open.value = false
          }}
        />
      )}
    </div>
  )
}

/** Shown while the queue cannot be read; the banner says why. A damaged one can be purged. */
function NoView({ queue }: { readonly queue: string }): JSX.Element {
  const isOpen = useSignal(false)
  if (trouble.value?.code !== 'ERR_STORE_DAMAGED') return <p class="waiting">Loading the queue …</p>
  return (
    <div class="empty">
      <h1>
        <Name text={queue} /> cannot be read
      </h1>
      <p>
        <Visible text={trouble.value.words} />
      </p>
      <div class="buttons">
        <ActionButton
          action="purge"
          kind="danger"
          onAct={() => {
            isOpen.value = true
          }}
        >
          Purge
        </ActionButton>
        <a class="button" href="#/">
          All queues
        </a>
      </div>
      {isOpen.value && (
        <PurgeDialog
          queue={queue}
          keys="every key"
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
    </div>
  )
}

/** One queue: its health, workers, failures and keys. */
export function QueuePage({ location }: { readonly location: QueueLocation }): JSX.Element {
  const view = useView('queue')
  if (view === undefined) return <NoView queue={location.queue} />
  if (!view.exists) return <NoQueue view={view} />
  const urgency = urgencies[view.severity]
  return (
    <div class="screen">
      <div class="queue-head">
        <p class={`verdict urgency-${urgency}`}>
          <Icon name={urgency} class={`glyph-${urgency}`} />
          <strong class={`glyph-${urgency}`}>{view.severity}</strong>
          {view.since !== undefined && <Since since={view.since} />}
          {view.reason !== '' && view.reason !== view.severity && (
            <span class="faint">
              <Visible text={view.reason} />
            </span>
          )}
          <NextStep view={view} />
        </p>
        <Buttons view={view} />
      </div>
      <QueueStrip view={view} />
      <div class="panels">
        <section class="panel wide" aria-label="Work over time">
          <WorkChart
            chart={view.chart}
            now={view.at}
            title="Work"
            none={noChart(session.value?.capabilities.history !== false)}
          />
        </section>
        <section class="panel" aria-label="Durations">
          <HistogramStrip title="Wait" histogram={view.waitHistogram} quantiles={view.wait} />
          <HistogramStrip title="Work" histogram={view.workHistogram} quantiles={view.work} />
        </section>
        <WorkerPanel view={view} />
        <LimiterPanel view={view} />
        <FailurePanel view={view} />
        <LeasePanel view={view} />
      </div>
      <KeySection location={location} />
    </div>
  )
}
