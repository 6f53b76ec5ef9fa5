import type { JSX } from 'preact'
import type { UnreadQueues } from '../../../src/wire.ts'
import { hashOf } from '../location/location.ts'
import { many } from '../text/figures.ts'
import { Visible } from '../ui/visible.tsx'

const shownMax = 5

/** The queues that are missing on a screen of all queues, since they cannot be read. */
export function UnreadQueueList({
  unread = [],
}: {
  readonly unread?: UnreadQueues | undefined
}): JSX.Element | null {
  if (unread.length === 0) return null
  return (
    <div class="panel" role="alert">
      {unread.slice(0, shownMax).map(({ queue, message }) => (
        <p key={queue} class="none tone-bad">
          The queue{' '}
          <a class="link" href={hashOf({ at: 'queue', queue, keys: {}, cursors: [] })}>
            <Visible text={queue} />
          </a>{' '}
          could not be read: <Visible text={message} />
        </p>
      ))}
      {unread.length > shownMax && (
        <p class="none tone-bad">
          {many(unread.length - shownMax, 'more queue')} could not be read.
        </p>
      )}
    </div>
  )
}
