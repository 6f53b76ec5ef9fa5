import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { ActionName, Matching } from '../../../src/wire.ts'
import { act, actOnEach, countMatching } from '../live/act.ts'
import { messageOf } from '../live/ask.ts'
import { paramsOf, type QueueLocation } from '../location/location.ts'
import { atLeast, grouped, many } from '../text/figures.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'

type BulkAction = 'runNow' | 'park' | 'unpark' | 'remove'

const labels: Readonly<Record<BulkAction, string>> = {
  runNow: 'Run now',
  park: 'Park',
  unpark: 'Unpark',
  remove: 'Remove',
}

const effects: Readonly<Record<BulkAction, string>> = {
  runNow: 'Delays and back-offs end; the keys become ready.',
  park: 'The keys do not run until they are unparked. Runs in progress finish first.',
  unpark: 'Parked keys can run again.',
  remove:
    'This deletes the keys with their failure counts. Runs in progress are not interrupted. This cannot be undone.',
}

const actions: readonly BulkAction[] = ['runNow', 'park', 'unpark', 'remove']

function filterWords(place: QueueLocation): string {
  const { state, prefix, failuresMin, errorCode } = place.keys
  const parts = [
    state,
    prefix === undefined ? undefined : `starting with “${prefix}”`,
    failuresMin === undefined ? undefined : `with at least ${many(failuresMin, 'failure')}`,
    errorCode === undefined ? undefined : `with the error code ${errorCode}`,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? 'every key of the queue' : parts.join(', ')
}

/** The actions for the selected keys, or for every key that matches the filters. */
export function BulkBar({
  place,
  ticked,
  onClear,
}: {
  readonly place: QueueLocation
  readonly ticked: ReadonlySet<string>
  readonly onClear: () => void
}): JSX.Element {
  const asked = useSignal<BulkAction | undefined>(undefined)
  const isOnTicked = ticked.size > 0
  const close = () => {
    asked.value = undefined
  }
  return (
    <div class={`bulk ${isOnTicked ? 'on' : ''}`}>
      <span class="bulk-what">
        {isOnTicked ? (
          <>
            <b>{grouped(ticked.size)}</b> selected{' '}
            <button type="button" class="link" onClick={onClear}>
              clear
            </button>
          </>
        ) : (
          <>
            All that match: <span class="faint">{filterWords(place)}</span>
          </>
        )}
      </span>
      {actions.map((action) => (
        <ActionButton
          key={action}
          action={action}
          kind={action === 'remove' ? 'danger' : ''}
          onAct={() => {
            asked.value = action
          }}
        >
          {labels[action]}
          {!isOnTicked && ' …'}
        </ActionButton>
      ))}
      {asked.value !== undefined &&
        (isOnTicked ? (
          <ConfirmDialog
            title={`${labels[asked.value]}: ${many(ticked.size, 'key')}`}
            verb={`${labels[asked.value]} ${many(ticked.size, 'key')}`}
            isDangerous={asked.value === 'remove'}
            onYes={async () => {
              const isDone = await actOnEach(asked.peek() as ActionName, place.queue, [...ticked])
              if (isDone) onClear()
              return isDone
            }}
            onClose={close}
          >
            <p>{effects[asked.value]}</p>
          </ConfirmDialog>
        ) : (
          <AllDialog key={asked.value} place={place} action={asked.value} onClose={close} />
        ))}
    </div>
  )
}

/** Counts the matching keys before it asks for confirmation. */
function AllDialog({
  place,
  action,
  onClose,
}: {
  readonly place: QueueLocation
  readonly action: BulkAction
  readonly onClose: () => void
}): JSX.Element {
  const found = useSignal<Matching | string | undefined>(undefined)
  useEffect(() => {
    countMatching(place.queue, paramsOf(place.keys)).then(
      (matching) => {
        found.value = matching
      },
      (error: unknown) => {
        found.value = messageOf(error)
      },
    )
  }, [])
  const { value } = found
  const isCounted = typeof value === 'object'
  const count = isCounted ? atLeast(value.count, value.capped) : '…'
  return (
    <ConfirmDialog
      title={`${labels[action]}: all that match`}
      verb={isCounted ? `${labels[action]} ${many(value.count, 'key')}` : 'Counting …'}
      isDangerous={action === 'remove'}
      isWaiting={!isCounted || value.count === 0}
      typed={action === 'remove' ? place.queue : undefined}
      onYes={() =>
        act({
          queue: place.queue,
          action,
          all: place.keys,
          ...(isCounted ? { expected: value.count } : {}),
          ...(action === 'remove' ? { confirm: place.queue } : {}),
        })
      }
      onClose={onClose}
    >
      {typeof value === 'string' ? (
        <p class="tone-bad">The keys could not be counted: {value}</p>
      ) : (
        <p role="status">
          <b class="figures">{count}</b> {value?.count === 1 ? 'key matches' : 'keys match'}:{' '}
          {filterWords(place)}.{' '}
          {isCounted && value.capped && 'More keys match; this action does not change those. '}
          {effects[action]}
        </p>
      )}
    </ConfirmDialog>
  )
}
