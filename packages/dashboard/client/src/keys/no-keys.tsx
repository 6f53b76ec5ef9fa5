import type { JSX } from 'preact'
import { replaceLocation } from '../location/current-location.ts'
import type { QueueLocation } from '../location/location.ts'
import { CopyButton } from '../ui/copy-button.tsx'

/** Shown instead of an empty list: how to see other keys, or how to add the first one. */
export function NoKeys({ place }: { readonly place: QueueLocation }): JSX.Element {
  if (Object.keys(place.keys).length > 0 || place.cursors.length > 0) {
    return (
      <p class="none">
        No keys match.{' '}
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
      <p>No keys: nothing is pending, and no failure counts are kept. Add one with</p>
      <div class="sample">
        <CopyButton text={code} what="the code" />
        <pre>{code}</pre>
      </div>
      <p>It is deleted when its run succeeds.</p>
    </div>
  )
}
