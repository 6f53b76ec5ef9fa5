import type { CommandSpec } from '../../command.ts'
import { keyCommand } from './key-command.ts'

export const remove: CommandSpec = keyCommand({
  name: 'remove',
  summary: 'Delete keys with their failure counts',
  details: 'Runs in progress are not interrupted.',
  past: 'removed',
  imperative: 'remove',
  examples: [
    { line: 'sluice remove orders order/42', does: 'one key' },
    { line: 'sluice remove orders --all --state parked', does: 'every parked key' },
  ],
  one: (inspect, key) => inspect.remove(key),
  many: (selection, options) => selection.remove(options),
})
