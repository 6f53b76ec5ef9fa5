import { SluiceError } from '@sluice/core'
import { manyWords } from '@sluice/core/words'
import { type CommandSpec, queuesOfStores } from '../../command.ts'
import { oneStoreError } from '../../command-error.ts'
import { checkedQueue } from '../../input.ts'
import { shown } from '../../output/escape.ts'
import { refuseUnknown } from '../../stores/known-queue.ts'

export const move: CommandSpec = {
  name: 'move',
  summary: 'Move queues to another store',
  details:
    'Pauses each queue in both stores, moves its keys once none is held, and resumes it in the target, unless it was paused before. In the source it stays paused. Safe to repeat. To keep the source, use `sluice copy`.',
  group: 'Stores',
  endsAfterAbort: true,
  positionals: queuesOfStores,
  options: [{ flags: '--no-resume', summary: 'leave the queues paused in the target' }],
  examples: [
    {
      line: 'sluice move sqlite:./queue.db postgres://app@db/app',
      does: 'every queue, from a file to a server',
    },
    { line: 'sluice move ./queue.db ./orders.db orders --no-resume', does: 'one, left paused' },
  ],
  json: '{ queues: [{ queue, moved }] }',
  async run(context) {
    const { input, print, signal } = context
    const [fromText = '', toText = ''] = input.positionals(0)
    const queues = input.positionals(2).map(checkedQueue)
    const from = await context.storeAt(fromText, 'existing')
    const to = await context.storeAt(toText, 'create')
    const { moveQueues } = await import('sluice/transfer')
    await refuseUnknown(context, from.inspection, queues)
    await print.progress('waiting until no key is held')
    const moved = await moveQueues({
      from: from.driver,
      to: to.driver,
      queues: queues.length > 0 ? queues : undefined,
      resume: input.flag('resume'),
      signal,
      onProgress({ queue, moved }) {
        void print.progress(`${shown(queue)}: ${manyWords(moved, 'key')} moved`)
      },
    }).catch((error: unknown) => {
      // Its words are those of the options of `moveQueues`.
      throw isAbout(error, 'to') ? oneStoreError(error) : error
    })
    await print.endProgress()
    for (const { queue } of input.flag('resume') ? moved : []) {
      const { paused } = await to.inspection.queue(queue).counts({ cap: 1 })
      if (!paused) continue
      await print.note(
        `${shown(queue)} stays paused in the target; to hand out its keys, run \`sluice resume\``,
      )
    }
    if (print.isDocument) return await print.document({ queues: moved })
    await print.lines(
      moved.map((each) => `${shown(each.queue)}: ${manyWords(each.moved, 'key')} moved`),
    )
    if (moved.length === 0) await print.note('no queues to move')
  },
}

/** Whether an error is about a parameter. */
function isAbout(error: unknown, parameter: string): boolean {
  return (
    SluiceError.is(error, 'ERR_INVALID_INPUT') &&
    (error as { parameter?: string }).parameter === parameter
  )
}
