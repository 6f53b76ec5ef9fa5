import type { ComponentChildren, JSX } from 'preact'

/** A part that scrolls separately, and is therefore focusable. */
export function Scroll({
  name,
  kind = '',
  children,
}: {
  readonly name: string
  readonly kind?: string
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys.
    <section class={`scroll ${kind}`} tabIndex={0} aria-label={name}>
      {children}
    </section>
  )
}
