import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { ActionRequest } from '../../../src/wire.ts'
import { act } from '../live/act.ts'
import { Dialog } from './dialog.tsx'
import { Name } from './visible.tsx'

/** The number that was typed; `undefined` for nothing, `null` for something else. */
function numberOf(text: string): number | undefined | null {
  if (text.trim() === '') return undefined
  const value = Number(text)
  return Number.isFinite(value) ? value : null
}

/** The item that was typed as JSON; as an own word, since `null` is an item too. */
function itemOf(text: string): { readonly item?: unknown } | undefined {
  if (text.trim() === '') return {}
  try {
    return { item: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

/** Asks for a run of a key. */
export function AddDialog({
  queue,
  fixedKey,
  onClose,
}: {
  readonly queue: string
  /** Given: a run of this key, with the item it has. */
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
    if (key.value === '') refusal.value = 'A key has at least one character.'
    else if (content === undefined) refusal.value = 'The item is not JSON; a text stands in quotes.'
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
            Item, as JSON <span class="faint">(left empty: the one stored, or the key itself)</span>
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
            <span>After, in seconds</span>
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
