import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'

/**
 * A picture of equal steps from left to right. It tells the value of one of them, which is chosen with
 * the mouse, a finger or the arrow keys.
 */
export function StepPicture({
  class: name,
  label,
  count,
  wordsOf,
  pointed,
  children,
}: {
  readonly class: string
  /** What the picture is about. */
  readonly label: string
  readonly count: number
  /** The words for a step, and without one for all of them. */
  readonly wordsOf: (at: number | undefined) => string
  /** Set to the chosen step. With it, the words are shown elsewhere. */
  readonly pointed?: Signal<number | undefined>
  readonly children: ComponentChildren | ((at: number | undefined) => ComponentChildren)
}): JSX.Element {
  const own = useSignal<number | undefined>(undefined)
  const chosen = pointed ?? own
  const last = count - 1
  const at = chosen.value === undefined ? undefined : Math.min(last, chosen.value)
  const clear = () => {
    chosen.value = undefined
  }
  const point = (event: PointerEvent & { readonly currentTarget: HTMLElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    const index = Math.floor(((event.clientX - left) / width) * count)
    chosen.value = Math.max(0, Math.min(last, index))
  }
  const nextOf = (key: string): number | undefined => {
    if (key === 'ArrowLeft') return at === undefined ? last : Math.max(0, at - 1)
    if (key === 'ArrowRight') return at === undefined ? last : Math.min(last, at + 1)
    return key === 'Home' ? 0 : key === 'End' ? last : undefined
  }
  const press = (event: KeyboardEvent) => {
    const next = nextOf(event.key)
    if (next === undefined && (event.key !== 'Escape' || at === undefined)) return
    event.preventDefault()
    event.stopPropagation()
    chosen.value = next
  }
  return (
    <div
      class={`step-picture ${name}`}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at ?? last}
      aria-valuetext={wordsOf(at)}
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={clear}
      onKeyDown={press}
      onBlur={clear}
    >
      {typeof children === 'function' ? children(at) : children}
      {pointed === undefined && at !== undefined && (
        <span class={`bubble ${at * 2 > last ? 'from-right' : ''}`} aria-hidden="true">
          {wordsOf(at)}
        </span>
      )}
    </div>
  )
}
