import type { JSX } from 'preact'
import { visible, visiblePieces } from '../text/visible-text.ts'

/**
 * A text from outside, isolated from the text around it, with invisible characters shown by number.
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

/** The name of a key or a queue, truncated to the room there is, with the whole name as title. */
export function Name({ text, class: more = '' }: { text: string; class?: string }): JSX.Element {
  return (
    <span class={`name ${more}`} title={visible(text, 600)}>
      {text === '' ? <span class="unseen">no name</span> : <Visible text={text} />}
    </span>
  )
}
