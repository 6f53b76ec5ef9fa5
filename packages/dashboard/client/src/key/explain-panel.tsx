import type { JSX } from 'preact'
import type { KeyView } from '../../../src/wire.ts'
import { Icon } from '../ui/icon.tsx'
import { Panel } from '../ui/panel.tsx'
import { Age, Until } from '../ui/times.tsx'
import { Visible } from '../ui/visible.tsx'

type Condition = KeyView['conditions'][number]

/** What each condition asks, as a sentence that is so when the key can run. */
const asks: Readonly<Record<Condition['code'], string>> = {
  NOT_FOUND: 'The key is stored',
  QUEUE_PAUSED: 'The queue runs',
  QUEUE_SHUTTING_DOWN: 'The queue takes keys',
  NO_WORKERS: 'Workers are there',
  WORKERS_BUSY: 'A worker has a free slot',
  PARKED: 'It is not set aside',
  NOTHING_OWED: 'A run is owed to it',
  PROCESSING: 'Nobody holds it',
  LEASE_EXPIRED_AWAITING_REAP: 'Its last lease was given back',
  REQUEUED_AFTER_DONE: 'It was asked for again',
  DELAYED: 'Its delay is over',
  BACKOFF_ITEM: 'Its back-off is over',
  BACKOFF_BUCKET: 'The bucket lets it go',
  WAITING_TURN: 'It is its turn',
}

const marks = { true: 'good', false: 'cross', null: 'unknown' } as const
const saids = { true: 'yes', false: 'no', null: 'not known' } as const

function ConditionView({
  condition,
  isBlocking,
}: {
  readonly condition: Condition
  readonly isBlocking: boolean
}): JSX.Element {
  const { code, ok, until, evidence } = condition
  const said = `${ok}` as 'true' | 'false' | 'null'
  return (
    <li class={`condition ok-${said} ${isBlocking ? 'blocking' : ''}`}>
      <span class="mark-box">
        <Icon name={marks[said]} />
        <span class="off-screen">{saids[said]}: </span>
      </span>
      <div>
        <div class="asks">
          {asks[code] ?? code}
          {until !== undefined && ok === false && (
            <span class="until">
              <Until at={until} />
            </span>
          )}
        </div>
        <div class="evidence">
          <Visible text={evidence} />
        </div>
      </div>
      <code class="reason">{code}</code>
    </li>
  )
}

function question({ state, blockedBy }: KeyView): string {
  if (state === 'processing' || state === 'dirty') return 'It is running'
  if (state === 'idle' || state === 'absent') return 'Why is it not running?'
  return blockedBy === undefined ? 'It waits for its turn' : 'Why is it not running?'
}

const grounds = {
  high: 'a worker is free and nothing is before it',
  medium: 'by how long runs have taken, and what is before it',
  low: 'roughly, by how long runs have taken and what is before it',
} as const

/** When the key is likely to be taken, and what that rests on. */
function Likely({ view }: { readonly view: KeyView }): JSX.Element | null {
  const { estimate } = view
  if (estimate === undefined) return null
  return (
    <p class="likely">
      Likely to be taken in{' '}
      <b>
        <Until at={estimate.startAt} />
      </b>
      <span class="faint"> – {grounds[estimate.confidence]}</span>
    </p>
  )
}

/** Why a key does not run: each thing that must be so, whether it is, and what shows it. */
export function ExplainPanel({ view }: { readonly view: KeyView }): JSX.Element {
  const blocking = view.conditions.find(({ code, ok }) => code === view.blockedBy && ok === false)
  return (
    <Panel
      title={question(view)}
      kind="explain"
      aside={
        <span>
          inspected <Age at={view.at} /> ago
        </span>
      }
    >
      <ol class="conditions">
        {view.conditions.map((condition) => (
          <ConditionView
            key={condition.code}
            condition={condition}
            isBlocking={condition === blocking}
          />
        ))}
      </ol>
      <Likely view={view} />
    </Panel>
  )
}
