import type { CommandSpec } from '../../command.ts'
import { keyCommand } from './key-command.ts'

export const remove: CommandSpec = keyCommand({
  name: 'remove',
  summary: 'Forget all that is owed to keys, and counted of them',
  details: 'Who holds a key goes on holding it.',
  past: 'removed',
  future: 'be removed',
  examples: [
    { line: 'sluice remove orders order/42', does: 'one key' },
    { line: 'sluice remove orders --all --state parked', does: 'all that were set aside' },
  ],
  one: (inspect, key) => inspect.remove(key),
  many: (selection, options) => selection.remove(options),
})
