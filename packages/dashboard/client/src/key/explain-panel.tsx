import type { JSX } from 'preact'
import type { KeyView } from '../../../src/wire.ts'
import { Icon } from '../ui/icon.tsx'
import { Panel } from '../ui/panel.tsx'
import { Age, Until } from '../ui/times.tsx'
import { Visible } from '../ui/visible.tsx'

type Condition = KeyView['conditions'][number]

/** Each condition as a statement that is true when the key can run. */
const statements: Readonly<Record<Condition['code'], string>> = {
  NOT_FOUND: 'The key is stored',
  QUEUE_PAUSED: 'Queue not paused',
  QUEUE_SHUTTING_DOWN: 'Queue accepts keys',
  NO_WORKERS: 'Workers online',
  WORKERS_BUSY: 'A worker has a free slot',
  PARKED: 'Not parked',
  NOTHING_OWED: 'A run is pending',
  PROCESSING: 'Not held',
  LEASE_EXPIRED_AWAITING_REAP: 'Last lease released',
  REQUEUED_AFTER_DONE: 'Added again',
  DELAYED: 'Delay elapsed',
  BACKOFF_ITEM: 'Back-off elapsed',
  BACKOFF_BUCKET: 'Tokens available',
  WAITING_TURN: 'Its turn',
}

const marks = { true: 'good', false: 'cross', null: 'unknown' } as const
const answers = { true: 'yes', false: 'no', null: 'not known' } as const

function ConditionView({
  condition,
  isBlocking,
}: {
  readonly condition: Condition
  readonly isBlocking: boolean
}): JSX.Element {
  const { code, ok, until, evidence } = condition
  const answer = `${ok}` as 'true' | 'false' | 'null'
  return (
    <li class={`condition ok-${answer} ${isBlocking ? 'blocking' : ''}`}>
      <span class="mark-box">
        <Icon name={marks[answer]} />
        <span class="off-screen">{answers[answer]}: </span>
      </span>
      <div>
        <div class="asks">
          {statements[code] ?? code}
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
  return blockedBy === undefined ? 'Waiting for its turn' : 'Why is it not running?'
}

const grounds = {
  high: 'a worker is free and no key is ahead of it',
  medium: 'estimated from recent run times and the keys ahead of it',
  low: 'rough estimate from recent run times and the keys ahead of it',
} as const

/** When the key is expected to run, and the basis of that estimate. */
function Likely({ view }: { readonly view: KeyView }): JSX.Element | null {
  const { estimate } = view
  if (estimate === undefined) return null
  return (
    <p class="likely">
      Expected to run in{' '}
      <b>
        <Until at={estimate.startAt} />
      </b>
      <span class="faint"> – {grounds[estimate.confidence]}</span>
    </p>
  )
}

/** Why a key does not run: each condition, whether it holds, and the evidence. */
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
