import type { CommandSpec } from '../../command.ts'
import type { Input } from '../../input.ts'
import { keyCommand } from './key-command.ts'

const forget = (input: Input): { forget: boolean } => ({ forget: input.flag('forget') })

export const unpark: CommandSpec = keyCommand({
  name: 'unpark',
  summary: 'Put parked keys back in line',
  details: 'They are as they would be had they not been parked.',
  past: 'unparked',
  future: 'be put back in line',
  options: [{ flags: '--forget', summary: 'count their failures and crashes from zero again' }],
  examples: [
    { line: 'sluice unpark orders order/42 --forget', does: 'one key, as if it had never failed' },
    { line: 'sluice unpark orders --all --error-code ETIMEDOUT', does: 'all that timed out' },
  ],
  one: (inspect, key, input) => inspect.unpark(key, forget(input)),
  many: (selection, options, input) => selection.unpark({ ...options, ...forget(input) }),
})
