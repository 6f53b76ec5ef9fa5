import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { ActionName } from '../../../src/wire.ts'
import { mayAct, whyNot } from '../live/act.ts'

/**
 * A button for an action. It is absent if the page may not act, and disabled with the reason if the
 * store does not support the action or if it would have no effect.
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
  /** Why the action would have no effect, if so. */
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
