import type { JSX } from 'preact'
import type { KeyStateWord } from '../../../src/wire.ts'
import { Icon } from './icon.tsx'
import { meaningPopover } from './meaning-popover.tsx'

/** The word for a state, with its shape and its colour. */
export function StateWord({ state }: { readonly state: KeyStateWord | 'absent' }): JSX.Element {
  return (
    <span class={`state state-${state}`}>
      <Icon name={state} />
      {state}
    </span>
  )
}

/** The `?` beside a word that says what it means. */
export function WhatIs({ state }: { readonly state: KeyStateWord | 'absent' }): JSX.Element {
  return (
    <button
      type="button"
      class="what-is"
      aria-label={`What does ${state} mean?`}
      onClick={(event) => meaningPopover.show(state, event.currentTarget)}
    >
      ?
    </button>
  )
}
