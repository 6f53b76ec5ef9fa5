import { manyWords } from '@sluice/core/words'
import { type CommandSpec, queueArgument } from '../../command.ts'
import { notConfirmedError } from '../../command-error.ts'
import type { Context } from '../../context.ts'
import { shown } from '../../output/escape.ts'
import { knownQueue } from '../../stores/known-queue.ts'

export const purge: CommandSpec = {
  name: 'purge',
  summary: 'Remove every key of a queue',
  details:
    'Requires --yes unless the queue is empty; on a terminal, typing the name of the queue also confirms it.',
  group: 'Queues',
  positionals: [queueArgument],
  examples: [{ line: 'sluice purge orders --yes', does: 'every key, without asking' }],
  json: '{ queue, removed }',
  async run(context) {
    const { input } = context
    const queue = input.queue()
    const { inspection } = await context.store('existing')
    const inspect = await knownQueue(context, inspection, queue)
    if (!input.flag('yes')) {
      const { count, capped } = await inspect.select({}).count()
      if (count === 0) return await removed(context, queue, 0)
      const what = `This will remove ${count}${capped ? ' or more' : ''} ${count === 1 ? 'key' : 'keys'} of ${shown(queue)}.`
      if (!context.isInteractive) throw notConfirmedError(`${what} Re-run with --yes to confirm.`)
      const typed = await context.ask(`${what} Type the name of the queue to confirm: `)
      if (typed !== queue) throw notConfirmedError('the name does not match; nothing was removed')
    }
    return await removed(context, queue, await inspect.purge())
  },
}

async function removed({ print }: Context, queue: string, count: number): Promise<void> {
  if (print.isDocument) await print.document({ queue, removed: count })
  else await print.lines([`${manyWords(count, 'key')} of ${shown(queue)} removed`])
}
