import type { JSX } from 'preact'
import { replaceLocation } from '../location/current-location.ts'
import type { QueueLocation } from '../location/location.ts'
import { CopyButton } from '../ui/copy-button.tsx'

/** What is shown where no key is: how to see others, or how to have a first one. */
export function NoKeys({ place }: { readonly place: QueueLocation }): JSX.Element {
  if (Object.keys(place.keys).length > 0 || place.cursors.length > 0) {
    return (
      <p class="none">
        No key is like that.{' '}
        <button
          type="button"
          class="link"
          onClick={() => replaceLocation({ ...place, keys: {}, cursors: [] })}
        >
          Show all keys
        </button>
      </p>
    )
  }
  const code = "await queue.add('order/42')"
  return (
    <div class="none">
      <p>No key is stored: nothing is owed, and no failure is remembered. A key comes by</p>
      <div class="sample">
        <CopyButton text={code} what="the code" />
        <pre>{code}</pre>
      </div>
      <p>and goes when its run has ended well.</p>
    </div>
  )
}
