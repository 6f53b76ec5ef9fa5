// This folder is the screen of one key.

import type { JSX } from 'preact'
import type { KeyView } from '../../../src/wire.ts'
import { useView } from '../live/views.ts'
import type { KeyLocation } from '../location/location.ts'
import { grouped } from '../text/figures.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Panel } from '../ui/panel.tsx'
import { StateWord, WhatIs } from '../ui/state-word.tsx'
import { Age, In } from '../ui/times.tsx'
import { Visible } from '../ui/visible.tsx'
import { ErrorList } from './error-list.tsx'
import { ExplainPanel } from './explain-panel.tsx'
import { ItemPanel } from './item-panel.tsx'
import { KeyActions } from './key-actions.tsx'
import { RetryPanel } from './retry-panel.tsx'
import { StateMachine } from './state-machine.tsx'
import { StepList } from './step-list.tsx'

function Facts({ view }: { readonly view: KeyView }): JSX.Element | null {
  const { line, next } = view
  if (line === undefined) return null
  return (
    <dl class="facts">
      <div>
        <dt>failures</dt>
        <dd class={line.failures > 0 ? 'tone-backoff' : ''}>{grouped(line.failures)}</dd>
      </div>
      <div>
        <dt>crashes</dt>
        <dd class={line.crashes > 0 ? 'tone-warn' : ''}>{grouped(line.crashes)}</dd>
      </div>
      <div>
        <dt>priority</dt>
        <dd>{line.priority}</dd>
      </div>
      {line.askedAt !== undefined && (
        <div>
          <dt>added</dt>
          <dd>
            <Age at={line.askedAt} /> ago
          </dd>
        </div>
      )}
      {line.held !== undefined && (
        <div>
          <dt>token</dt>
          <dd>{line.held.token}</dd>
        </div>
      )}
      {next !== undefined && (
        <div class="next-fact">
          <dt>
            {next.to}
            {(view.state === 'processing' || view.state === 'dirty') && ' if not renewed'}
          </dt>
          <dd>
            <In at={next.at} />
          </dd>
        </div>
      )}
    </dl>
  )
}

/** One key: why it does not run, its history, and what comes next. */
export function KeyPage({ location }: { readonly location: KeyLocation }): JSX.Element {
  const view = useView('key')
  if (view === undefined) return <p class="waiting">Loading the key …</p>
  return (
    <div class="screen key-screen">
      <header class="key-head">
        <div class="key-title">
          <h1 class="mono">
            <Visible text={location.key} />
          </h1>
          <CopyButton text={location.key} what="the key" />
          <span class="key-state">
            <StateWord state={view.state} />
            <WhatIs state={view.state} />
          </span>
        </div>
        <Facts view={view} />
        <KeyActions view={view} />
      </header>
      <div class="panels key-panels">
        <ExplainPanel view={view} />
        <Panel title="State" kind="machine-panel">
          <StateMachine state={view.state} steps={view.steps} failures={view.line?.failures ?? 0} />
          <RetryPanel view={view} />
        </Panel>
        <Panel title="Steps" none={view.steps.length === 0 && 'No history for this key yet.'}>
          <StepList steps={view.steps} />
        </Panel>
        <Panel title="Errors" none={view.errors.length === 0 && 'No run of this key has failed.'}>
          <ErrorList errors={view.errors} />
        </Panel>
        <ItemPanel key={`${location.queue} ${location.key}`} view={view} />
      </div>
    </div>
  )
}
