import type { ComponentChildren, JSX } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

/** A modal dialog. Esc and a click outside of it cancel. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: ComponentChildren
  readonly onClose: () => void
  readonly children: ComponentChildren
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before the first paint: a key pressed after it must not reach the page behind.
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc does the same, by the dialog itself.
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close()
      }}
    >
      <div class="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}
