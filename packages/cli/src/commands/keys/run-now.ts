import type { CommandSpec } from '../../command.ts'
import { keyCommand } from './key-command.ts'

export const runNow: CommandSpec = keyCommand({
  name: 'run-now',
  summary: 'End delays and back-offs, so that keys run now',
  details: 'Failure counts are kept; see `sluice forget`.',
  past: 'due now',
  imperative: 'end the delays of',
  examples: [
    { line: 'sluice run-now orders order/42', does: 'one key' },
    { line: 'sluice run-now orders --all --state backoff', does: 'every key in back-off' },
  ],
  one: (inspect, key) => inspect.runNow(key),
  many: (selection, options) => selection.runNow(options),
})
