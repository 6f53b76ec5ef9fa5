import { signal } from '@preact/signals'
import type { JSX } from 'preact'
import type { KeyStateWord } from '../../../src/wire.ts'
import { announce } from '../live/notices.ts'
import { meanings } from '../text/meanings.ts'

const word = signal<KeyStateWord | 'absent'>('ready')
let box: HTMLElement | null = null

/** The popover with the meaning of a state, next to the button that opened it. */
export const meaningPopover = {
  show(state: KeyStateWord | 'absent', beside: HTMLElement): void {
    word.value = state
    announce(`${state}: ${meanings[state]}`)
    if (box === null) return
    box.showPopover()
    const from = beside.getBoundingClientRect()
    const { offsetWidth, offsetHeight } = box
    const left = Math.min(Math.max(8, from.left - 16), innerWidth - offsetWidth - 8)
    const isBelow = from.bottom + offsetHeight + 8 < innerHeight
    box.style.left = `${left}px`
    box.style.top = `${isBelow ? from.bottom + 6 : from.top - offsetHeight - 6}px`
  },
}

export function MeaningPopover(): JSX.Element {
  return (
    <div
      class="meaning"
      popover="auto"
      ref={(element) => {
        box = element
      }}
    >
      <strong class={`state-${word.value}`}>{word.value}</strong> {meanings[word.value]}
    </div>
  )
}
