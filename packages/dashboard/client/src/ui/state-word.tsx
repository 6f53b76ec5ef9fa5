import type { JSX } from 'preact'
import type { KeyStateWord } from '../../../src/wire.ts'
import { Icon } from './icon.tsx'
import { meaningPopover } from './meaning-popover.tsx'

/** The name of a state, with its icon and colour. */
export function StateWord({ state }: { readonly state: KeyStateWord | 'absent' }): JSX.Element {
  return (
    <span class={`state state-${state}`}>
      <Icon name={state} />
      {state}
    </span>
  )
}

/** The `?` button that shows what a state means. */
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
