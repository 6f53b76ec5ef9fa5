import type { JSX } from 'preact'
import type { KeyLine } from '../../../src/wire.ts'
import { openRow } from '../location/current-location.ts'
import { hashOf } from '../location/location.ts'
import { grouped } from '../text/figures.ts'
import { visible } from '../text/visible-text.ts'
import { StateWord } from '../ui/state-word.tsx'
import { Age, In, Until } from '../ui/times.tsx'
import { Name, Visible } from '../ui/visible.tsx'

/** The next change of a key, in a few words. */
function NextOf({ line }: { readonly line: KeyLine }): JSX.Element {
  const { state, held, dueAt, readyAt } = line
  if (held !== undefined) {
    if (held.leaseUntil === undefined) return <span class="faint">held</span>
    return (
      <>
        <span class="faint">lease </span>
        <Until at={held.leaseUntil} />
      </>
    )
  }
  if (state === 'ready' && readyAt !== undefined) {
    return (
      <>
        <span class="faint">waits </span>
        <Age at={readyAt} />
      </>
    )
  }
  if ((state === 'delayed' || state === 'backoff') && dueAt !== undefined) {
    return <In at={dueAt} />
  }
  return <span class="faint">–</span>
}

/** One key of a list. */
export function KeyRowView({
  queue,
  line,
  isGone,
  isSelected,
  onSelect,
}: {
  readonly queue: string
  readonly line: KeyLine
  readonly isGone: boolean
  readonly isSelected: boolean
  /** Absent if the page may not act. */
  readonly onSelect?: ((key: string, isOn: boolean, isRange: boolean) => void) | undefined
}): JSX.Element {
  const { key, state, failures, crashes, priority, lastError } = line
  const location = { at: 'key', queue, key } as const
  return (
    <tr
      role="row"
      data-row={key}
      class={`row ${isGone ? 'gone' : ''} ${isSelected ? 'selected' : ''}`}
      onClick={(event) => openRow(event, location)}
    >
      {onSelect !== undefined && (
        <td role="cell" class="select-cell">
          <input
            type="checkbox"
            aria-label={`Select ${visible(key)}`}
            checked={isSelected}
            onClick={(event) => onSelect(key, event.currentTarget.checked, event.shiftKey)}
          />
        </td>
      )}
      <th role="rowheader" scope="row" class="name-cell">
        <a href={hashOf(location)} data-row-link class="mono">
          <Name text={key} />
        </a>
      </th>
      <td role="cell" data-title="State">
        {isGone ? <span class="faint">gone</span> : <StateWord state={state} />}
      </td>
      <td role="cell" class="figure" data-title="Next">
        {isGone ? '–' : <NextOf line={line} />}
      </td>
      <td role="cell" class={`figure ${failures > 0 ? '' : 'nothing'}`} data-title="Failures">
        {grouped(failures)}
        {crashes > 0 && (
          <span class="tone-warn" title="Runs whose worker disappeared">
            {' '}
            +{grouped(crashes)}
            <span class="off-screen"> crashes</span>
          </span>
        )}
      </td>
      <td role="cell" class={`figure ${priority === 0 ? 'nothing' : ''}`} data-title="Priority">
        {priority}
      </td>
      <td role="cell" class="error-cell" data-title="Last error">
        {lastError !== undefined && (
          <span class="name">
            <span class="code">
              <Visible text={lastError.code ?? lastError.name} lengthMax={80} />
            </span>{' '}
            <Visible text={lastError.message} lengthMax={200} />
          </span>
        )}
      </td>
    </tr>
  )
}
