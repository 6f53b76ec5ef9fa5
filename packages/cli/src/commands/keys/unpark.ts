import type { CommandSpec } from '../../command.ts'
import type { Input } from '../../input.ts'
import { keyCommand } from './key-command.ts'

const forget = (input: Input): { forget: boolean } => ({ forget: input.flag('forget') })

export const unpark: CommandSpec = keyCommand({
  name: 'unpark',
  summary: 'Let parked keys run again',
  details: 'Their pending runs, delays and priorities are kept.',
  past: 'unparked',
  imperative: 'unpark',
  options: [{ flags: '--forget', summary: 'also reset their failure and crash counts' }],
  examples: [
    { line: 'sluice unpark orders order/42 --forget', does: 'one key, with its counts reset' },
    { line: 'sluice unpark orders --all --error-code ETIMEDOUT', does: 'every key that timed out' },
  ],
  one: (inspect, key, input) => inspect.unpark(key, forget(input)),
  many: (selection, options, input) => selection.unpark({ ...options, ...forget(input) }),
})
