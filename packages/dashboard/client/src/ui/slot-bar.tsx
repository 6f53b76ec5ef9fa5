import type { JSX } from 'preact'
import { grouped } from '../text/figures.ts'

/** Busy handlers and total concurrency, in figures and as a bar. */
export function SlotBar({ busy, slots }: { busy: number; slots: number }): JSX.Element {
  const share = slots === 0 ? 0 : Math.min(1, busy / slots)
  const tone = slots === 0 ? 'slots-none' : share >= 1 ? 'slots-full' : ''
  return (
    <span class={`slots ${tone}`}>
      <span class="slots-text">
        {grouped(busy)}
        <span class="faint">/{grouped(slots)}</span>
      </span>
      <svg class="slots-bar" viewBox="0 0 40 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="slots-room" width="40" height="6" rx="1.5" />
        {share > 0 && <rect class="slots-used" width={40 * share} height="6" rx="1.5" />}
      </svg>
    </span>
  )
}
