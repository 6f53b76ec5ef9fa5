import { type CommandSpec, queueArgument } from '../../command.ts'
import { notConfirmedError } from '../../command-error.ts'
import { shown } from '../../output/escape.ts'
import { knownQueue } from '../../stores/known-queue.ts'

export const purge: CommandSpec = {
  name: 'purge',
  summary: 'Remove every key of a queue',
  details: 'Requires --yes; on a terminal, typing the name of the queue also confirms it.',
  group: 'Queues',
  positionals: [queueArgument],
  examples: [{ line: 'sluice purge orders --yes', does: 'every key, without asking' }],
  json: '{ queue, removed }',
  async run(context) {
    const { input, print } = context
    const queue = input.queue()
    const { inspection } = await context.store('existing')
    const inspect = await knownQueue(context, inspection, queue)
    if (!input.flag('yes')) {
      const { count, capped } = await inspect.select({}).count()
      const what = `This will remove ${count}${capped ? ' or more' : ''} keys of ${shown(queue)}.`
      if (!context.isInteractive) throw notConfirmedError(`${what} Re-run with --yes to confirm.`)
      const typed = await context.ask(`${what} Type the name of the queue to confirm: `)
      if (typed !== queue) throw notConfirmedError('the name does not match; nothing was removed')
    }
    const removed = await inspect.purge()
    if (print.isDocument) await print.document({ queue, removed })
    else await print.lines([`${removed} keys of ${shown(queue)} removed`])
    return undefined
  },
}
