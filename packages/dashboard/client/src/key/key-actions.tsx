import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { ActionName, KeyView } from '../../../src/wire.ts'
import { act } from '../live/act.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { AddDialog } from '../ui/add-dialog.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Visible } from '../ui/visible.tsx'

/** Why an action makes no sense for a key as it is. */
function senseless(action: ActionName, view: KeyView): string | undefined {
  const { line, state } = view
  if (line === undefined) return action === 'add' ? undefined : 'nothing is stored of this key'
  if (action === 'runNow' && state !== 'delayed' && state !== 'backoff') {
    return 'only what is delayed or backs off can be run sooner'
  }
  if (action === 'forget' && line.failures + line.crashes === 0) return 'it has no failures'
  return undefined
}

/** What can be done to one key. */
export function KeyActions({ view }: { readonly view: KeyView }): JSX.Element {
  const open = useSignal<'add' | 'remove' | 'park' | undefined>(undefined)
  const { queue, key, line } = view
  const does = (action: ActionName) => ({
    action,
    senseless: senseless(action, view),
    onAct: () => void act({ queue, key, action }),
  })
  const close = () => {
    open.value = undefined
  }
  return (
    <div class="buttons">
      <ActionButton
        action="add"
        kind="main"
        onAct={() => {
          open.value = 'add'
        }}
      >
        Add again
      </ActionButton>
      <ActionButton {...does('runNow')}>Run now</ActionButton>
      <ActionButton {...does('forget')}>Forget failures</ActionButton>
      {line?.parked === true ? (
        <ActionButton {...does('unpark')}>Put back</ActionButton>
      ) : (
        <ActionButton
          {...does('park')}
          onAct={() => {
            open.value = 'park'
          }}
        >
          Park
        </ActionButton>
      )}
      <ActionButton
        {...does('remove')}
        kind="danger"
        onAct={() => {
          open.value = 'remove'
        }}
      >
        Remove
      </ActionButton>
      {open.value === 'add' && <AddDialog queue={queue} fixedKey={key} onClose={close} />}
      {open.value === 'park' && (
        <ConfirmDialog
          title="Park 1 key?"
          verb="Park 1 key"
          onYes={() => act({ queue, key, action: 'park' })}
          onClose={close}
        >
          <p>
            <Visible text={key} /> is set aside until somebody puts it back
            {line?.held === undefined ? '.' : '; as it is held, when it is given back.'}
          </p>
        </ConfirmDialog>
      )}
      {open.value === 'remove' && (
        <ConfirmDialog
          title="Remove 1 key?"
          verb="Remove 1 key"
          isDangerous
          onYes={() => act({ queue, key, action: 'remove' })}
          onClose={close}
        >
          <p>
            All that is owed to <Visible text={key} />, and its {line?.failures ?? 0} failures, are
            forgotten. Whoever holds it goes on holding it. This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </div>
  )
}
