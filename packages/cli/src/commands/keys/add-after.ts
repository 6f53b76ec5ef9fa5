import { delayMsMax, priorityMax, priorityMin } from '@sluice/core'
import { type CommandSpec, queueArgument } from '../../command.ts'
import { usageError } from '../../command-error.ts'
import { parseDuration } from '../../duration.ts'
import { shown } from '../../output/escape.ts'
import { addKey } from './add-key.ts'

export const addAfter: CommandSpec = {
  name: 'add-after',
  summary: 'Add keys that run later',
  details:
    'If a run of a key is already pending, the setting of the queue decides how the two merge. Creates a missing SQLite file.',
  group: 'Keys',
  positionals: [
    queueArgument,
    { name: 'DELAY', summary: 'the delay: 5s, 1m30s, 2h, or milliseconds', kind: 'text' },
    { name: 'KEY', summary: 'the keys', kind: 'key', variadic: true },
  ],
  options: [{ flags: '--priority <N>', summary: 'from -1000 to 1000, higher first (default: 0)' }],
  examples: [
    { line: 'sluice add-after orders 90s order/42', does: 'in a minute and a half' },
    { line: 'sluice add-after orders 1500 order/42', does: 'in 1,500 milliseconds' },
  ],
  json: '{ queue, afterMs, results: [{ key, outcome }] }',
  async run(context) {
    const { input, print } = context
    const queue = input.queue()
    const afterMs = parseDuration('DELAY', input.positional(1) ?? '', 'ms')
    if (afterMs > delayMsMax) throw usageError('DELAY must be at most ten years')
    const keys = input.keys(2)
    const priority = input.whole('priority', { min: priorityMin, max: priorityMax })
    const { inspection } = await context.store('create')
    const results: { key: string; outcome: string }[] = []
    for (const key of keys) {
      const ask = { key, afterMs, ...(priority === undefined ? {} : { priority }) }
      results.push({ key, outcome: await addKey(inspection, queue, ask) })
    }
    if (print.isDocument) await print.document({ queue, afterMs, results })
    else if (print.format === 'name') await print.names(keys)
    else await print.lines(results.map(({ key, outcome }) => `${shown(key)} ${outcome}`))
  },
}
