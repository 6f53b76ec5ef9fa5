import type { CommandSpec } from '../../command.ts'
import { keyCommand } from './key-command.ts'

export const forget: CommandSpec = keyCommand({
  name: 'forget',
  summary: 'Reset the failure and crash counts of keys',
  details: 'A back-off in progress is not changed; see `sluice run-now`.',
  past: 'forgotten',
  imperative: 'reset the failures of',
  examples: [
    { line: 'sluice forget orders order/42', does: 'one key' },
    { line: 'sluice forget orders --all --failures-min 5', does: 'every key that failed often' },
  ],
  async one(inspect, key) {
    if ((await inspect.forget(key)) === 'forgotten') return 'changed'
    // The verb does not tell a key without failures from one that does not exist.
    return (await inspect.get(key)) === undefined ? 'missing' : 'unchanged'
  },
  many: (selection, options) => selection.forget(options),
})
