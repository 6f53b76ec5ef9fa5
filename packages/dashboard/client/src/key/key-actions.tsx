import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { ActionName, KeyView } from '../../../src/wire.ts'
import { act } from '../live/act.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { AddDialog } from '../ui/add-dialog.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Visible } from '../ui/visible.tsx'

/** Why an action has no effect on a key in its state. */
function whyUseless(action: ActionName, view: KeyView): string | undefined {
  const { line, state } = view
  if (line === undefined) return undefined
  if (action === 'runNow' && state !== 'delayed' && state !== 'backoff') {
    return 'only delayed keys and keys in back-off can run sooner'
  }
  if (action === 'forget' && line.failures + line.crashes === 0) return 'it has no failures'
  return undefined
}

/** The actions that a dialog asks about first; a release is that of one run, whatever follows it. */
type Asked = 'add' | 'remove' | 'park' | { readonly token: number }

/** The actions for one key. */
export function KeyActions({ view }: { readonly view: KeyView }): JSX.Element {
  const open = useSignal<Asked | undefined>(undefined)
  const { queue, key, line } = view
  const held = line?.held
  const does = (action: ActionName) => ({
    action,
    useless: whyUseless(action, view),
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
        {line === undefined ? 'Add' : 'Add again'}
      </ActionButton>
      {line !== undefined && (
        <>
          <ActionButton {...does('runNow')}>Run now</ActionButton>
          {held !== undefined && (
            <ActionButton
              {...does('release')}
              onAct={() => {
                open.value = { token: held.token }
              }}
            >
              Release
            </ActionButton>
          )}
          <ActionButton {...does('forget')}>Forget failures</ActionButton>
          {line.parked ? (
            <ActionButton {...does('unpark')}>Unpark</ActionButton>
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
        </>
      )}
      {open.value !== undefined && <KeyDialog asked={open.value} view={view} onClose={close} />}
    </div>
  )
}

function KeyDialog({
  asked,
  view: { queue, key, line },
  onClose,
}: {
  readonly asked: Asked
  readonly view: KeyView
  readonly onClose: () => void
}): JSX.Element {
  if (asked === 'add') return <AddDialog queue={queue} fixedKey={key} onClose={onClose} />
  if (asked === 'park') {
    return (
      <ConfirmDialog
        title="Park 1 key?"
        verb="Park 1 key"
        onYes={() => act({ queue, key, action: 'park' })}
        onClose={onClose}
      >
        <p>
          <Visible text={key} /> does not run until it is unparked.
          {line?.held !== undefined && ' The run in progress finishes first.'}
        </p>
      </ConfirmDialog>
    )
  }
  if (asked === 'remove') {
    return (
      <ConfirmDialog
        title="Remove 1 key?"
        verb="Remove 1 key"
        isDangerous
        onYes={() => act({ queue, key, action: 'remove' })}
        onClose={onClose}
      >
        <p>
          This deletes <Visible text={key} /> with its failure count ({line?.failures ?? 0}). A run
          in progress is not interrupted. This cannot be undone.
        </p>
      </ConfirmDialog>
    )
  }
  return (
    <ConfirmDialog
      title="Release 1 key?"
      verb="Release 1 key"
      onYes={() => act({ queue, key, action: 'release', token: asked.token })}
      onClose={onClose}
    >
      <p>
        This takes <Visible text={key} /> from the worker that holds it, and puts the run back in
        line. Do this if the worker hangs. The worker is not stopped; what it does with the key
        afterwards has no effect on the queue.
      </p>
    </ConfirmDialog>
  )
}
