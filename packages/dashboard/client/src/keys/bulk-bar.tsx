import { batch, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import type { KeyQuery, Matching } from '../../../src/wire.ts'
import { act, actOnEach, countMatching } from '../live/act.ts'
import { messageOf } from '../live/ask.ts'
import { paramsOf, type QueueLocation } from '../location/location.ts'
import { atLeast, grouped, many } from '../text/figures.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'

export type BulkAction = 'runNow' | 'park' | 'unpark' | 'forget' | 'remove'

export const bulkLabels: Readonly<Record<BulkAction, string>> = {
  runNow: 'Run now',
  park: 'Park',
  unpark: 'Unpark',
  forget: 'Forget failures',
  remove: 'Remove',
}

const effects: Readonly<Record<BulkAction, string>> = {
  runNow: 'Delays and back-offs end; the keys become ready.',
  park: 'The keys do not run until they are unparked. Runs in progress finish first.',
  unpark: 'Parked keys can run again.',
  forget: 'Failures and crashes are counted from zero again. Pending runs stay as they are.',
  remove:
    'This deletes the keys with their failure counts. Runs in progress are not interrupted. This cannot be undone.',
}

export const bulkActions: readonly BulkAction[] = ['runNow', 'park', 'unpark', 'forget', 'remove']

function filterWords(keys: KeyQuery): string {
  const { state, prefix, failuresMin, errorCode } = keys
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
  location,
  ticked,
  onClear,
}: {
  readonly location: QueueLocation
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
            All that match: <span class="faint">{filterWords(location.keys)}</span>
          </>
        )}
      </span>
      {bulkActions.map((action) => (
        <ActionButton
          key={action}
          action={action}
          kind={action === 'remove' ? 'danger' : ''}
          onAct={() => {
            asked.value = action
          }}
        >
          {bulkLabels[action]}
          {!isOnTicked && ' …'}
        </ActionButton>
      ))}
      {asked.value !== undefined &&
        (isOnTicked ? (
          <TickedDialog
            queue={location.queue}
            keys={[...ticked]}
            action={asked.value}
            onDone={() => {
              // Together: with the filters alone, the dialog for all that match would follow.
              batch(() => {
                close()
                onClear()
              })
            }}
            onClose={close}
          />
        ) : (
          <AllDialog
            key={asked.value}
            queue={location.queue}
            keys={location.keys}
            action={asked.value}
            onClose={close}
          />
        ))}
    </div>
  )
}

/** Asks for confirmation for the selected keys. No further key is changed once it is cancelled or left. */
function TickedDialog({
  queue,
  keys,
  action,
  onDone,
  onClose,
}: {
  readonly queue: string
  readonly keys: readonly string[]
  readonly action: BulkAction
  readonly onDone: () => void
  readonly onClose: () => void
}): JSX.Element {
  const left = useMemo(() => new AbortController(), [])
  useEffect(() => () => left.abort(), [])
  return (
    <ConfirmDialog
      title={`${bulkLabels[action]}: ${many(keys.length, 'key')}`}
      verb={`${bulkLabels[action]} ${many(keys.length, 'key')}`}
      isDangerous={action === 'remove'}
      onYes={async () => {
        const isDone = await actOnEach(action, queue, keys, left.signal)
        if (isDone) onDone()
        return isDone
      }}
      onClose={onClose}
    >
      <p>{effects[action]}</p>
    </ConfirmDialog>
  )
}

/** Counts the matching keys before it asks for confirmation. */
export function AllDialog({
  queue,
  keys,
  action,
  onClose,
}: {
  readonly queue: string
  readonly keys: KeyQuery
  readonly action: BulkAction
  readonly onClose: () => void
}): JSX.Element {
  const found = useSignal<Matching | string | undefined>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    const count = async () => {
      for await (const part of countMatching(queue, paramsOf(keys), controller.signal)) {
        found.value = part
      }
    }
    count().catch((error: unknown) => {
      if (!controller.signal.aborted) found.value = messageOf(error)
    })
    return () => controller.abort()
  }, [])
  const { value } = found
  const isCounted = typeof value === 'object' && value.cursor === undefined
  const count = typeof value === 'object' ? atLeast(value.count, value.capped) : '…'
  return (
    <ConfirmDialog
      title={`${bulkLabels[action]}: all that match`}
      verb={
        isCounted
          ? `${bulkLabels[action]} ${many(value.count, 'key')}`
          : typeof value === 'string'
            ? bulkLabels[action]
            : 'Counting …'
      }
      isDangerous={action === 'remove'}
      isWaiting={!isCounted || value.count === 0}
      typed={action === 'remove' ? queue : undefined}
      onYes={() =>
        act({
          queue,
          action,
          all: keys,
          ...(isCounted ? { expected: value.count } : {}),
          ...(action === 'remove' ? { confirm: queue } : {}),
        })
      }
      onClose={onClose}
    >
      {typeof value === 'string' ? (
        <p class="tone-bad">The keys could not be counted: {value}</p>
      ) : (
        <p role="status" aria-busy={!isCounted}>
          <b class="figures">{count}</b> {value?.count === 1 ? 'key matches' : 'keys match'}:{' '}
          {filterWords(keys)}.{' '}
          {value !== undefined &&
            !isCounted &&
            `Counting … ${grouped(value.lookedAt)} keys searched so far. `}
          {isCounted && value.capped && 'More keys match; this action does not change those. '}
          {effects[action]}
        </p>
      )}
    </ConfirmDialog>
  )
}
