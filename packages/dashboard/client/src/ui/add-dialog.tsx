import { type Signal, useSignal } from '@preact/signals'
import { alteredNumber, parseJson } from '@sluice/core'
import type { ComponentChildren, JSX, TargetedSubmitEvent } from 'preact'
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

/** The item in a text of JSON, as an own property, since `null` is a valid item; or why it is none. */
function itemOf(text: string): { readonly item?: unknown } | string {
  if (text.trim() === '') return {}
  let item: unknown
  try {
    item = parseJson(text)
  } catch {
    return 'The item is not JSON; a text needs quotes.'
  }
  const altered = alteredNumber(text)
  if (altered === undefined) return { item }
  return `The number ${altered} would become ${Number(altered)}; write it as a string.`
}

/** The fields of the form, as they were typed. */
interface Typed {
  readonly key: string
  readonly item: string
  readonly after: string
  readonly priority: string
}

/** What to add, or why it cannot be. */
function requestOf(queue: string, typed: Typed): ActionRequest | string {
  const seconds = numberOf(typed.after)
  const priority = numberOf(typed.priority)
  const content = itemOf(typed.item)
  if (typed.key === '') return 'A key needs at least one character.'
  if (typeof content === 'string') return content
  if (seconds === null || (seconds ?? 0) < 0) return 'The delay is not a number.'
  if (priority === null || (priority !== undefined && !Number.isInteger(priority)))
    return 'The priority is not a whole number.'
  return {
    queue,
    action: 'add',
    key: typed.key,
    ...content,
    ...(seconds === undefined ? {} : { afterMs: seconds * 1_000 }),
    ...(priority === undefined ? {} : { priority }),
  }
}

function NumberField({
  value,
  inputMode,
  children,
}: {
  readonly value: Signal<string>
  readonly inputMode: 'decimal' | 'numeric'
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    <label class="field">
      <span>{children}</span>
      <input
        type="text"
        inputMode={inputMode}
        placeholder="0"
        value={value.value}
        onInput={(event) => {
          value.value = event.currentTarget.value
        }}
      />
    </label>
  )
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
  const isBusy = useSignal(false)

  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    // A second click would ask for a second run, if the first one has begun by then.
    if (isBusy.value) return
    const request = requestOf(queue, {
      key: key.value,
      item: item.value,
      after: after.value,
      priority: priority.value,
    })
    refusal.value = typeof request === 'string' ? request : ''
    if (typeof request === 'string') return
    const form = event.currentTarget
    isBusy.value = true
    const isDone = await act(request)
    isBusy.value = false
    // It may have been cancelled meanwhile: then the next one may be open.
    if (isDone && form.isConnected) onClose()
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
          <NumberField value={after} inputMode="decimal">
            Delay, in seconds
          </NumberField>
          <NumberField value={priority} inputMode="numeric">
            Priority
          </NumberField>
        </div>
        <p class="refusal" role="alert">
          {refusal.value}
        </p>
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button main" aria-disabled={isBusy.value}>
            Add 1 key
          </button>
        </div>
      </form>
    </Dialog>
  )
}
