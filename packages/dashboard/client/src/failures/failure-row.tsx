import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { FailureGroup, HistoryRange } from '../../../src/wire.ts'
import { AllDialog, type BulkAction, bulkActions, bulkLabels } from '../keys/bulk-bar.tsx'
import { mayAct } from '../live/act.ts'
import { replaceLocation } from '../location/current-location.ts'
import { type FailuresLocation, hashOf } from '../location/location.ts'
import { grouped, many } from '../text/figures.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Age, Clock } from '../ui/times.tsx'
import { Name, Visible } from '../ui/visible.tsx'
import { FailureBars } from './failure-bars.tsx'

/** How many stored keys failed so last: `3`, or `3+` if more were not read. */
function keysFailing({ keys, isPart }: FailureGroup): string {
  return `${grouped(keys)}${isPart === true ? '+' : ''}`
}

/** The recorded runs of a group, newest first. */
function Runs({ group }: { readonly group: FailureGroup }): JSX.Element {
  const { queue, runs } = group
  return (
    <ol class="failed-runs" aria-label="Recorded runs, newest first">
      {runs.map(({ at, key, failures, holder, message }) => (
        <li key={`${at} ${key}`}>
          <span class="figures faint">{at > 0 ? <Clock at={at} /> : '–'}</span>
          <a href={hashOf({ at: 'key', queue, key })} class="mono">
            <Name text={key} />
          </a>
          <span class="failed-run-message" title={holder === undefined ? '' : `on ${holder}`}>
            <Visible text={message} lengthMax={300} />
          </span>
          <span class="figures faint">
            {failures !== undefined && `failure ${grouped(failures)}`}
          </span>
        </li>
      ))}
    </ol>
  )
}

/** The actions on every stored key that failed so last. */
function Actions({ group }: { readonly group: FailureGroup }): JSX.Element {
  const asked = useSignal<BulkAction | undefined>(undefined)
  const { queue, code, keys } = group
  const useless =
    group.isRedacted === true
      ? 'redactError has changed the code, so the keys cannot be found by it'
      : keys === 0
        ? 'no stored key failed so last'
        : undefined
  return (
    <div class="buttons">
      {bulkActions.map((action) => (
        <ActionButton
          key={action}
          action={action}
          kind={action === 'remove' ? 'danger' : ''}
          useless={useless}
          onAct={() => {
            asked.value = action
          }}
        >
          {bulkLabels[action]} …
        </ActionButton>
      ))}
      {asked.value !== undefined && (
        <AllDialog
          key={asked.value}
          queue={queue}
          keys={{ errorCode: code }}
          action={asked.value}
          onClose={() => {
            asked.value = undefined
          }}
        />
      )}
    </div>
  )
}

function Details({ group }: { readonly group: FailureGroup }): JSX.Element {
  const { queue, code, runs, keys } = group
  return (
    <div class="failure-details">
      {mayAct() && <Actions group={group} />}
      <p class="faint">
        {group.isRedacted !== true && keys > 0 && (
          <>
            <a
              class="link"
              href={hashOf({ at: 'queue', queue, keys: { errorCode: code }, cursors: [] })}
            >
              Show the keys that failed so last
            </a>
            .{' '}
          </>
        )}
        {runs.length === 0
          ? 'No run with this code is on record any more.'
          : `The latest ${many(runs.length, 'run')} on record, also of keys that have succeeded or were deleted since:`}
      </p>
      <Runs group={group} />
    </div>
  )
}

/** The failures with one code in one queue; its runs and actions when it is opened. */
export function FailureRow({
  group,
  location,
  range,
}: {
  readonly group: FailureGroup
  readonly location: FailuresLocation
  /** That of the groups; the one that the location names may not have arrived. */
  readonly range: HistoryRange
}): JSX.Element {
  const { queue, code, failed, perStep, lastAt, keys, runs } = group
  const { code: open, codeOf = queue, ...rest } = location
  const isOpen = open === code && codeOf === queue
  const toggle = () => {
    const other = location.queue === undefined ? { code, codeOf: queue } : { code }
    replaceLocation(isOpen ? rest : { ...rest, ...other })
  }
  return (
    <li class={`failure-row ${isOpen ? 'open' : ''}`} data-row={`${queue} ${code}`}>
      <div class="failure-line">
        <button
          type="button"
          class="failure-code"
          aria-expanded={isOpen}
          data-row-link
          onClick={toggle}
        >
          <Icon name="right" />
          <span class="code">
            <Visible text={code} lengthMax={120} />
          </span>
        </button>
        {location.queue === undefined && (
          <a class="failure-queue" href={hashOf({ ...(isOpen ? { ...rest, code } : rest), queue })}>
            <Name text={queue} />
          </a>
        )}
        <span class="failure-message">
          {runs[0] !== undefined && <Visible text={runs[0].message} lengthMax={300} />}
        </span>
        <FailureBars perStep={perStep} range={range} />
        <dl class="failure-figures">
          <div>
            <dt>failed runs</dt>
            <dd class={failed === 0 ? 'nothing' : ''}>{grouped(failed)}</dd>
          </div>
          <div>
            <dt>last</dt>
            <dd>{lastAt === undefined ? '–' : <Age at={lastAt} />}</dd>
          </div>
          <div>
            <dt>keys failing now</dt>
            <dd class={keys === 0 ? 'nothing' : ''}>{keysFailing(group)}</dd>
          </div>
        </dl>
      </div>
      {isOpen && <Details group={group} />}
    </li>
  )
}
