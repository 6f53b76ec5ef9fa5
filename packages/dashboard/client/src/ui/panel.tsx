import type { ComponentChildren, JSX } from 'preact'

/** A section of a screen with a title, and a sentence if it is empty. */
export function Panel({
  title,
  aside,
  none,
  kind = '',
  children,
}: {
  readonly title: string
  readonly aside?: ComponentChildren
  /** The sentence that replaces the content. */
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
