import { type CommandSpec, queueArgument } from '../../command.ts'
import { notConfirmedError } from '../../command-error.ts'
import { shown } from '../../output/escape.ts'

export const purge: CommandSpec = {
  name: 'purge',
  summary: 'Remove every key of a queue',
  details: 'Needs --yes; on a terminal, the name of the queue typed back will do.',
  group: 'Queues',
  positionals: [queueArgument],
  examples: [{ line: 'sluice purge orders --yes', does: 'all of it, without asking' }],
  json: '{ queue, removed }',
  async run(context) {
    const { input, print } = context
    const queue = input.queue()
    const { inspection } = await context.store('look')
    const inspect = inspection.queue(queue)
    if (!input.flag('yes')) {
      const { count, capped } = await inspect.select({}).count()
      const what = `${count}${capped ? ' or more' : ''} keys of ${shown(queue)} will be removed`
      if (!context.isSomebodyThere) throw notConfirmedError(`${what}: say --yes if that is meant`)
      const typed = await context.ask(`${what}. Type the name of the queue to go on: `)
      if (typed !== queue) throw notConfirmedError('that is not its name; nothing was removed')
    }
    const removed = await inspect.purge()
    if (print.isDocument) await print.document({ queue, removed })
    else await print.lines([`${removed} keys of ${shown(queue)} removed`])
    return undefined
  },
}
