import { signal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { NoticeList } from '../frame/notice-list.tsx'
import { announcement } from '../live/notices.ts'

/** How many dialogs are open. */
export const openDialogs = signal(0)

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
  const pressed = useRef<EventTarget | null>(null)
  // Before the first paint: a key pressed after it must not reach the page behind.
  useLayoutEffect(() => {
    const { current } = dialog
    current?.showModal()
    openDialogs.value += 1
    // What was announced before is no part of the dialog.
    announcement.value = ''
    return () => {
      openDialogs.value -= 1
      // Closing gives the focus back. Without it the page behind would still be inert.
      current?.close()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc does the same, by the dialog itself.
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onClose={() => {
        // It also comes after the dialog was removed, when the next one may be open.
        if (dialog.current !== null) onClose()
      }}
      onMouseDown={(event) => {
        pressed.current = event.target
      }}
      onClick={(event) => {
        // A text that is selected beyond the edge also ends in a click here.
        const isOutside = event.target === dialog.current && pressed.current === dialog.current
        if (isOutside) dialog.current?.close()
      }}
    >
      <div class="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
      {/* The page behind is inert: its notices could be neither closed nor read to anybody. */}
      <NoticeList />
    </dialog>
  )
}
