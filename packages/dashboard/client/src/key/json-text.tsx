import type { JSX } from 'preact'
import { Scroll } from '../ui/scroll.tsx'
import { Visible } from '../ui/visible.tsx'

const lengthMax = 60_000
const pattern = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g

/** JSON with syntax colours. */
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
      <span key={found.index} class={kind}>
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
