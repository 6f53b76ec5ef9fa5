import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { ActionRequest } from '../../../src/wire.ts'
import { act } from '../live/act.ts'
import { Dialog } from './dialog.tsx'
import { Name } from './visible.tsx'

/** The number in a text; `undefined` if it is empty, `null` if it is not a number. */
function numberOf(text: string): number | undefined | null {
  if (text.trim() === '') return undefined
  const value = Number(text)
  return Number.isFinite(value) ? value : null
}

/** The item in a text of JSON, as an own property, since `null` is a valid item. */
function itemOf(text: string): { readonly item?: unknown } | undefined {
  if (text.trim() === '') return {}
  try {
    return { item: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

/** The form that adds a key. */
export function AddDialog({
  queue,
  fixedKey,
  onClose,
}: {
  readonly queue: string
  /** Adds this key again, with the item it has. */
  readonly fixedKey?: string
  readonly onClose: () => void
}): JSX.Element {
  const key = useSignal(fixedKey ?? '')
  const item = useSignal('')
  const after = useSignal('')
  const priority = useSignal('')
  const refusal = useSignal('')

  const submit = async (event: Event) => {
    event.preventDefault()
    const seconds = numberOf(after.value)
    const rank = numberOf(priority.value)
    const content = itemOf(item.value)
    if (key.value === '') refusal.value = 'A key needs at least one character.'
    else if (content === undefined) refusal.value = 'The item is not JSON; a text needs quotes.'
    else if (seconds === null || (seconds ?? 0) < 0) refusal.value = 'The delay is not a number.'
    else if (rank === null || (rank !== undefined && !Number.isInteger(rank)))
      refusal.value = 'The priority is not a whole number.'
    else {
      refusal.value = ''
      const request: ActionRequest = {
        queue,
        action: 'add',
        key: key.value,
        ...content,
        ...(seconds === undefined ? {} : { afterMs: seconds * 1_000 }),
        ...(rank === undefined ? {} : { priority: rank }),
      }
      if (await act(request)) onClose()
    }
  }

  return (
    <Dialog
      title={
        <>
          Add to <Name text={queue} />
        </>
      }
      onClose={onClose}
    >
      <form onSubmit={(event) => void submit(event)}>
        <label class="field">
          <span>Key</span>
          <input
            type="text"
            class="mono"
            spellcheck={false}
            autocomplete="off"
            readOnly={fixedKey !== undefined}
            value={key.value}
            onInput={(event) => {
              key.value = event.currentTarget.value
            }}
          />
        </label>
        <label class="field">
          <span>
            Item, as JSON <span class="faint">(if empty: the stored one, or the key itself)</span>
          </span>
          <textarea
            class="mono"
            rows={3}
            spellcheck={false}
            value={item.value}
            onInput={(event) => {
              item.value = event.currentTarget.value
            }}
          />
        </label>
        <div class="field-pair">
          <label class="field">
            <span>Delay, in seconds</span>
            <input
              type="text"
              inputMode="decimal"
              placeholder="0"
              value={after.value}
              onInput={(event) => {
                after.value = event.currentTarget.value
              }}
            />
          </label>
          <label class="field">
            <span>Priority</span>
            <input
              type="text"
              inputMode="numeric"
              placeholder="0"
              value={priority.value}
              onInput={(event) => {
                priority.value = event.currentTarget.value
              }}
            />
          </label>
        </div>
        <p class="refusal" role="alert">
          {refusal.value}
        </p>
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button main">
            Add 1 key
          </button>
        </div>
      </form>
    </Dialog>
  )
}
