import { keyStateWords } from '@sluice/core'
import type { KeyFilter } from 'sluice'
import type { OptionSpec } from '../command.ts'
import type { Input } from '../input.ts'

/** The options that filter the keys of a queue. */
export const keyFilterOptions: readonly OptionSpec[] = [
  { flags: '--state <STATE>', summary: 'only keys in this state', choices: keyStateWords },
  { flags: '--prefix <TEXT>', summary: 'only keys with this prefix' },
  { flags: '--failures-min <N>', summary: 'only keys with at least this many failures' },
  {
    flags: '--error-code <CODE>',
    summary: 'only keys whose last error has this code, or this name and no code',
  },
]

/** The filter that the options make; without options, every key matches. */
export function keyFilterOf(input: Input): Omit<KeyFilter, 'cap'> {
  return {
    state: input.state(),
    prefix: input.text('prefix'),
    failuresMin: input.whole('failuresMin', { min: 0 }),
    errorCode: input.text('errorCode'),
  }
}
