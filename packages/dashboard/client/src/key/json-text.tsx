import type { JSX } from 'preact'
import { isoTime } from '../text/durations.ts'
import { Scroll } from '../ui/scroll.tsx'
import { Visible } from '../ui/visible.tsx'

const lengthMax = 60_000
const pattern = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g

/** A number that is an instant of this century, as an instant: times are stored in milliseconds. */
function instantOf(word: string): string | undefined {
  const ms = Number(word)
  return ms > 946_684_800_000 && ms < 4_102_444_800_000 ? isoTime(ms) : undefined
}

/** JSON with syntax colours; a number that is an instant has it as its title. */
export function JsonText({ text }: { readonly text: string }): JSX.Element {
  const cut = text.length > lengthMax ? text.slice(0, lengthMax) : text
  const parts: JSX.Element[] = []
  let from = 0
  const plain = (until: number) => {
    if (until > from) parts.push(<span key={from}>{cut.slice(from, until)}</span>)
  }
  for (const found of cut.matchAll(pattern)) {
    const [whole, quoted, colon] = found
    plain(found.index)
    const kind =
      quoted === undefined ? 'json-value' : colon === undefined ? 'json-text' : 'json-name'
    const word = quoted ?? whole
    parts.push(
      <span key={found.index} class={kind} title={instantOf(word)}>
        <Visible text={word} lines lengthMax={lengthMax} />
      </span>,
    )
    from = found.index + word.length
  }
  plain(cut.length)
  return (
    <Scroll name="JSON" kind="json">
      <pre>
        {parts}
        {cut.length < text.length && (
          <span class="unseen">… {text.length - cut.length} more characters; copy them</span>
        )}
      </pre>
    </Scroll>
  )
}
