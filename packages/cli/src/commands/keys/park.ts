import type { CommandSpec } from '../../command.ts'
import { keyCommand } from './key-command.ts'

export const park: CommandSpec = keyCommand({
  name: 'park',
  summary: 'Set keys aside, so that they are not run',
  details:
    'What is asked of a parked key is kept. A key that is held is parked when it is given back.',
  past: 'parked',
  future: 'be parked',
  examples: [
    { line: 'sluice park orders order/42', does: 'one key' },
    { line: 'sluice park orders --all --failures-min 10', does: 'all that keep failing' },
  ],
  one: (inspect, key) => inspect.park(key),
  many: (selection, options) => selection.park(options),
})
