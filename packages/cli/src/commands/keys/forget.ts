import type { CommandSpec } from '../../command.ts'
import { keyCommand } from './key-command.ts'

export const forget: CommandSpec = keyCommand({
  name: 'forget',
  summary: 'Count failures and crashes of keys from zero again',
  details: 'A back-off that is under way stays as it is; see `sluice run-now`.',
  past: 'forgotten',
  future: 'have their failures forgotten',
  examples: [
    { line: 'sluice forget orders order/42', does: 'one key' },
    { line: 'sluice forget orders --all --failures-min 5', does: 'all that failed often' },
  ],
  async one(inspect, key) {
    return (await inspect.forget(key)) === 'forgotten' ? 'changed' : 'unchanged'
  },
  many: (selection, options) => selection.forget(options),
})
