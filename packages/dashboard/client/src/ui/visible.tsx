import type { JSX } from 'preact'
import { visible, visiblePieces } from '../text/visible-text.ts'

/**
 * A text that somebody else wrote: set apart from what is around it, and with whatever would not be
 * seen in it shown by its number.
 */
export function Visible({
  text,
  lines = false,
  lengthMax = 4_000,
}: {
  readonly text: string
  readonly lines?: boolean
  readonly lengthMax?: number
}): JSX.Element {
  const cut = text.length > lengthMax ? text.slice(0, lengthMax) : text
  return (
    <bdi class="visible">
      {visiblePieces(cut, lines).map((piece, index) =>
        piece.hidden ? (
          <span class="unseen" key={index}>
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
      {cut.length < text.length && <span class="unseen">… {text.length - cut.length} more</span>}
    </bdi>
  )
}

/** The name of a key or a queue, cut off at its end where there is no room; whole as a title. */
export function Name({ text, class: more = '' }: { text: string; class?: string }): JSX.Element {
  return (
    <span class={`name ${more}`} title={visible(text, 600)}>
      {text === '' ? <span class="unseen">no name</span> : <Visible text={text} />}
    </span>
  )
}
