import type { JSX } from 'preact'
import { replaceLocation } from '../location/current-location.ts'
import type { QueueLocation } from '../location/location.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Scroll } from '../ui/scroll.tsx'

/** Shown instead of an empty list: how to see other keys, or how to add the first one. */
export function NoKeys({ location }: { readonly location: QueueLocation }): JSX.Element {
  if (Object.keys(location.keys).length > 0 || location.cursors.length > 0) {
    return (
      <p class="none">
        No keys match.{' '}
        <button
          type="button"
          class="link"
          onClick={() => replaceLocation({ ...location, keys: {}, cursors: [] })}
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
        <Scroll name="The code">
          <pre>{code}</pre>
        </Scroll>
      </div>
      <p>It is deleted when its run succeeds.</p>
    </div>
  )
}
