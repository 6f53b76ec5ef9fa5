import type { JSX } from 'preact'
import { directionOf, visible, visiblePieces } from '../text/visible-text.ts'

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

/** From how many characters a name is cut in the middle, and how many stay at its end. */
const split = { from: 24, end: 10 }

/** The name of a key or a queue, cut in the middle to the room there is; the title is the whole name. */
export function Name({ text, class: more = '' }: { text: string; class?: string }): JSX.Element {
  const title = visible(text, 600)
  const letters = text.length > split.from ? [...text] : []
  if (letters.length > split.from) {
    const end = letters.slice(-split.end).join('')
    return (
      <span class={`name split ${more}`} title={title} dir={directionOf(text)}>
        <span>
          <Visible text={text.slice(0, text.length - end.length)} />
        </span>
        <Visible text={end} />
      </span>
    )
  }
  return (
    <span class={`name ${more}`} title={title} dir={directionOf(text)}>
      {text === '' ? <span class="unseen">no name</span> : <Visible text={text} />}
    </span>
  )
}
