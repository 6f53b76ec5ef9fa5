import type { JSX } from 'preact'
import { announcement, dismiss, notices } from '../live/notices.ts'
import { Icon } from '../ui/icon.tsx'
import { Visible } from '../ui/visible.tsx'

const icons = { done: 'good', news: 'unknown', failed: 'bad' } as const

/** Recent notices in the corner, and the live region for screen readers. */
export function NoticeList({
  isCovered = false,
}: {
  /** Whether an open dialog shows the notices instead. */
  readonly isCovered?: boolean
}): JSX.Element {
  return (
    <>
      {!isCovered && (
        <section class="notices" aria-label="Notices">
          {notices.value.map(({ id, words, kind }) => (
            <div key={id} class={`notice ${kind}`}>
              <Icon name={icons[kind]} />
              <span>
                <Visible text={words} lengthMax={600} />
              </span>
              <button type="button" class="quiet" aria-label="Close" onClick={() => dismiss(id)}>
                <Icon name="cross" />
              </button>
            </div>
          ))}
        </section>
      )}
      <div class="off-screen" role="status" aria-live="polite">
        {announcement.value}
      </div>
    </>
  )
}
