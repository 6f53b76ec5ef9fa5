import type { CommandSpec } from '../../command.ts'
import { keyCommand } from './key-command.ts'

export const park: CommandSpec = keyCommand({
  name: 'park',
  summary: 'Park keys, so that they do not run',
  details: 'Adds of a parked key are kept. A held key is parked when its run ends.',
  past: 'parked',
  imperative: 'park',
  examples: [
    { line: 'sluice park orders order/42', does: 'one key' },
    { line: 'sluice park orders --all --failures-min 10', does: 'every key that keeps failing' },
  ],
  one: (inspect, key) => inspect.park(key),
  many: (selection, options) => selection.park(options),
})
