import { SluiceError } from '@sluice/core'
import { manyWords } from '@sluice/core/words'
import type { MovedQueue } from 'sluice/transfer'
import { type CommandSpec, queuesOfStores } from '../../command.ts'
import { CommandErrors, oneStoreError } from '../../command-error.ts'
import { checkedQueue } from '../../input.ts'
import { shown } from '../../output/escape.ts'
import { isOfDamage, refuseUnknown } from '../../stores/known-queue.ts'

export const move: CommandSpec = {
  name: 'move',
  summary: 'Move queues to another store',
  details:
    'Pauses each queue in both stores, moves its keys once none is held, and resumes it in the target, unless it was paused before. In the source it stays paused. Goes on after a queue that is damaged, and then fails. Safe to repeat. To keep the source, use `sluice copy`.',
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
    const names = queues.length > 0 ? queues : await from.inspection.queues()
    // Also where there is nothing to move, the target is opened, so that a wrong address is noticed. Both stay open.
    await to.inspection.now()
    await print.progress('waiting until no key is held')
    const moved: MovedQueue[] = []
    const errors: unknown[] = []
    for (const queue of names) {
      try {
        const done = await moveQueues({
          from: from.driver,
          to: to.driver,
          queues: [queue],
          resume: input.flag('resume'),
          signal,
          onProgress({ moved: count }) {
            void print.progress(`${shown(queue)}: ${manyWords(count, 'key')} moved`)
          },
        })
        moved.push(...done)
      } catch (error) {
        // Its words are those of the options of `moveQueues`.
        if (isAbout(error, 'to')) throw oneStoreError(error)
        // The others are moved all the same.
        if (!isOfDamage(error)) throw error
        errors.push(error)
      }
    }
    await print.endProgress()
    for (const { queue } of input.flag('resume') ? moved : []) {
      const { paused } = await to.inspection.queue(queue).counts({ cap: 1 })
      if (!paused) continue
      await print.note(
        `${shown(queue)} stays paused in the target; to hand out its keys, run \`sluice resume\``,
      )
    }
    if (moved.length === 0 && errors.length > 0) throw errors[0]
    if (print.isDocument) await print.document({ queues: moved })
    else if (moved.length === 0) await print.note('no queues to move')
    else {
      await print.lines(
        moved.map((each) => `${shown(each.queue)}: ${manyWords(each.moved, 'key')} moved`),
      )
    }
    if (errors.length > 0) throw new CommandErrors(errors)
  },
}

/** Whether an error is about a parameter. */
function isAbout(error: unknown, parameter: string): boolean {
  return (
    SluiceError.is(error, 'ERR_INVALID_INPUT') &&
    (error as { parameter?: string }).parameter === parameter
  )
}
