import { conditionWords } from '@sluice/core/words'
import type { JSX } from 'preact'
import type { KeyView } from '../../../src/wire.ts'
import { Icon } from '../ui/icon.tsx'
import { Panel } from '../ui/panel.tsx'
import { Age, In, Until } from '../ui/times.tsx'
import { Visible } from '../ui/visible.tsx'

type Condition = KeyView['conditions'][number]

const marks = { true: 'good', false: 'cross', null: 'unknown' } as const
const answers = { true: 'yes', false: 'no', null: 'not known' } as const

function ConditionView({
  condition,
  isBlocking,
}: {
  readonly condition: Condition
  readonly isBlocking: boolean
}): JSX.Element {
  const { ok, until } = condition
  const { statement, code, evidence } = conditionWords(condition)
  const answer = `${ok}` as 'true' | 'false' | 'null'
  return (
    <li class={`condition ok-${answer} ${isBlocking ? 'blocking' : ''}`}>
      <span class="mark-box">
        <Icon name={marks[answer]} />
        <span class="off-screen">{answers[answer]}: </span>
      </span>
      <div>
        <div class="asks">
          {statement}
          {until !== undefined && ok === false && (
            <span class="until">
              <Until at={until} />
            </span>
          )}
        </div>
        {evidence !== undefined && (
          <div class="evidence">
            <Visible text={evidence} />
          </div>
        )}
      </div>
      {code !== undefined && <code class="reason">{code}</code>}
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
      Expected to run{' '}
      <b>
        <In at={estimate.startAt} />
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
