import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { ActionName } from '../../../src/wire.ts'
import { mayAct, whyNot } from '../live/act.ts'

/**
 * A button for something that changes the store. It is absent where this page may change nothing,
 * and grey with the reason where the store cannot do it, or where it makes no sense now.
 */
export function ActionButton({
  action,
  onAct,
  useless,
  kind = '',
  children,
}: {
  readonly action: ActionName
  readonly onAct: () => void
  /** Why it makes no sense now, if it does not. */
  readonly useless?: string | undefined
  readonly kind?: 'danger' | 'main' | ''
  readonly children: ComponentChildren
}): JSX.Element | null {
  const id = useId()
  if (!mayAct()) return null
  const reason = whyNot(action) ?? useless
  const isOff = reason !== undefined
  return (
    <>
      <button
        type="button"
        class={`button ${kind}`}
        aria-disabled={isOff}
        {...(isOff ? { title: reason, 'aria-describedby': id } : {})}
        onClick={() => {
          if (!isOff) onAct()
        }}
      >
        {children}
      </button>
      {isOff && (
        <span id={id} class="off-screen">
          {reason}
        </span>
      )}
    </>
  )
}
