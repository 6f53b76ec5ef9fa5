import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX, TargetedSubmitEvent } from 'preact'
import { visiblePieces } from '../text/visible-text.ts'
import { Dialog } from './dialog.tsx'
import { Visible } from './visible.tsx'

/** Asks for confirmation; may require that a name is typed. */
export function ConfirmDialog({
  title,
  children,
  verb,
  typed,
  isDangerous = false,
  isWaiting = false,
  onYes,
  onClose,
}: {
  readonly title: ComponentChildren
  readonly children: ComponentChildren
  readonly verb: ComponentChildren
  /** What must be typed before the button works. */
  readonly typed?: string | undefined
  readonly isDangerous?: boolean
  /** True while the keys are still being counted. */
  readonly isWaiting?: boolean
  readonly onYes: () => Promise<boolean>
  readonly onClose: () => void
}): JSX.Element {
  const text = useSignal('')
  const isBusy = useSignal(false)
  // Nobody can type a line break or most invisible characters here: the name as it is shown counts, too.
  const shown = visiblePieces(typed ?? '').map((piece) => piece.text)
  const isTyped = typed === undefined || text.value === typed || text.value === shown.join('')
  const isReady = !isWaiting && !isBusy.value && isTyped
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (!isReady) return
    const form = event.currentTarget
    isBusy.value = true
    const isDone = await onYes()
    isBusy.value = false
    // It may have been cancelled meanwhile: then the next one may be open.
    if (isDone && form.isConnected) onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        {children}
        {typed !== undefined && (
          <label class="field">
            <span>
              To confirm, type{' '}
              <strong class="mono">{typed === '' ? 'nothing' : <Visible text={typed} />}</strong>
            </span>
            <input
              type="text"
              autocomplete="off"
              spellcheck={false}
              value={text.value}
              onInput={(event) => {
                text.value = event.currentTarget.value
              }}
            />
          </label>
        )}
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={`button ${isDangerous ? 'danger' : 'main'}`}
            aria-disabled={!isReady}
          >
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
