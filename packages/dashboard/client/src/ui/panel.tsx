import type { ComponentChildren, JSX } from 'preact'

/** A part of a screen with its title, and a sentence where it has nothing to show. */
export function Panel({
  title,
  aside,
  none,
  kind = '',
  children,
}: {
  readonly title: string
  readonly aside?: ComponentChildren
  /** What is said instead of the content. */
  readonly none?: ComponentChildren | false
  readonly kind?: string
  readonly children?: ComponentChildren
}): JSX.Element {
  return (
    <section class={`panel ${kind}`} aria-label={title}>
      <header class="panel-head">
        <h2>{title}</h2>
        {aside !== undefined && <span class="aside">{aside}</span>}
      </header>
      {none === undefined || none === false ? children : <p class="none">{none}</p>}
    </section>
  )
}
