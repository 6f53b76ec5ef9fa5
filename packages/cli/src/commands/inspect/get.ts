import { type CommandSpec, keyArgument, queueArgument } from '../../command.ts'
import { notFoundError } from '../../command-error.ts'
import { checkedKey } from '../../input.ts'
import { shown } from '../../output/escape.ts'
import { keyColumns } from '../../rows/key-columns.ts'
import { printWatched, watchOptions } from '../../rows/print-watched.ts'
import { knownQueue } from '../../stores/known-queue.ts'

export const get: CommandSpec = {
  name: 'get',
  summary: 'Show one key',
  details: 'With -o json, everything that is stored. Exits with 4 if the key does not exist.',
  group: 'Inspect',
  positionals: [queueArgument, keyArgument],
  options: watchOptions,
  examples: [
    { line: 'sluice get orders order/42', does: 'one line' },
    { line: 'sluice get orders order/42 -o json', does: 'everything that is stored' },
  ],
  json: '{ queue, key, state, … }: one of the keys of ls',
  async run(context) {
    const { input } = context
    const queue = input.queue()
    const key = checkedKey(input.positional(1) ?? '')
    const { inspection } = await context.store('existing')
    const inspect = await knownQueue(context, inspection, queue)
    await printWatched(context, {
      async look() {
        const [info, now] = await Promise.all([inspect.get(key), inspection.now()])
        if (info === undefined && !input.flag('watch')) {
          throw notFoundError(`${shown(key)} is not stored in ${shown(queue)}`)
        }
        return {
          rows: info === undefined ? [] : [info],
          columns: (paint) => keyColumns(paint, now),
          name: (row) => row.key,
          document: () => ({ queue, ...info }),
          none: `${shown(key)} is not stored`,
        }
      },
      asJson: (row) => ({ queue, ...row }),
    })
  },
}
