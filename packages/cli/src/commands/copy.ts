import type { MovedQueue } from 'sluice/transfer'
import type { CommandSpec } from '../command.ts'
import { usageError } from '../command-error.ts'
import type { Context } from '../context.ts'
import { checkedQueue } from '../input.ts'
import { type OpenStore, refuseImmovable } from '../open-store.ts'
import { shown } from '../output/escape.ts'

export const copy: CommandSpec = {
  name: 'copy',
  alias: 'move',
  summary: 'Move queues to another store, with everything that is stored of them',
  details:
    'Each queue is paused on both sides, waited for until nobody holds a key of it, moved, and resumed at its new place; at the old one it stays paused. Interrupted, it goes on where it was when it is made again. With --keep nothing is paused and the old store stays as it is; workers on both sides would then do everything twice.',
  group: 'Stores',
  windsUp: true,
  positionals: [
    { name: 'FROM', summary: 'the store that has the queues', kind: 'store' },
    { name: 'TO', summary: 'the store that gets them', kind: 'store' },
    {
      name: 'QUEUE',
      summary: 'the queues (default: all)',
      kind: 'queue',
      optional: true,
      variadic: true,
    },
  ],
  options: [
    { flags: '--keep', summary: 'leave the queues in the old store, too' },
    { flags: '--no-resume', summary: 'leave the queues paused at their new place' },
  ],
  examples: [
    {
      line: 'sluice copy sqlite:./queue.db postgres://app@db/app',
      does: 'everything, from a file to a server',
    },
    { line: 'sluice copy --keep sqlite:./queue.db sqlite:./copy.db orders', does: 'a copy of one' },
  ],
  json: '{ queues: [{ queue, moved }] }',
  async run(context) {
    const { input, print } = context
    const [fromText = '', toText = ''] = input.positionals(0)
    const queues = input.positionals(2).map(checkedQueue)
    if (input.flag('keep') && !input.flag('resume')) {
      throw usageError('--no-resume goes without --keep: a copy pauses nothing')
    }
    const from = await context.storeAt(fromText, 'look')
    const to = await context.storeAt(toText, 'make')
    for (const side of [from, to]) refuseImmovable(side)
    const names = queues.length > 0 ? queues : await from.inspection.queues()
    const moved = input.flag('keep')
      ? await copied(context, from, to, names)
      : await movedQueues(context, from, to, names)
    await print.endProgress()
    if (print.isDocument) return await print.document({ queues: moved }).then(() => undefined)
    const verb = input.flag('keep') ? 'copied' : 'moved'
    await print.lines(moved.map((each) => `${shown(each.queue)}: ${each.moved} keys ${verb}`))
    if (moved.length === 0) await print.note('no queues to move')
    return undefined
  },
}

async function movedQueues(
  { input, print, signal }: Context,
  from: OpenStore,
  to: OpenStore,
  queues: readonly string[],
): Promise<readonly MovedQueue[]> {
  const { moveQueues } = await import('sluice/transfer')
  await print.progress('waiting until nobody holds a key')
  return await moveQueues({
    from: from.driver,
    to: to.driver,
    queues,
    resume: input.flag('resume'),
    signal,
    onProgress({ queue, moved }) {
      void print.progress(`${shown(queue)}: ${moved} keys moved`)
    },
  })
}

async function copied(
  context: Context,
  from: OpenStore,
  to: OpenStore,
  queues: readonly string[],
): Promise<readonly MovedQueue[]> {
  const { print, signal } = context
  const { createQueue } = await import('sluice')
  const { exportQueue, importQueue } = await import('sluice/transfer')
  const done: MovedQueue[] = []
  for (const name of queues) {
    const source = createQueue<never>({ name, driver: from.driver })
    const target = createQueue<never>({ name, driver: to.driver })
    context.defer(() => Promise.all([source.close(), target.close()]).then(() => undefined))
    let moved = 0
    async function* lines(): AsyncGenerator<string> {
      for await (const line of exportQueue(source)) {
        signal.throwIfAborted()
        yield line
        moved += 1
        if (moved % 1_000 === 0) await print.progress(`${shown(name)}: ${moved} lines copied`)
      }
    }
    const { imported, merged, unchanged } = await importQueue(target, lines())
    done.push({ queue: name, moved: imported + merged + unchanged })
  }
  return done
}
