import { manyWords } from '@sluice/core/words'
import { type CommandSpec, queuesOfStores } from '../../command.ts'
import { CommandErrors, oneStoreError } from '../../command-error.ts'
import type { Context } from '../../context.ts'
import { checkedQueue } from '../../input.ts'
import { shown } from '../../output/escape.ts'
import { isOfDamage, refuseUnknown } from '../../stores/known-queue.ts'
import type { OpenStore } from '../../stores/open-store.ts'

export const copy: CommandSpec = {
  name: 'copy',
  summary: 'Copy queues to another store; the source stays as it is',
  details:
    'Existing keys are merged: the earlier of two times and the higher of two priorities and counts win, and existing items are kept. Workers on both stores then run the same keys; to hand a queue over, use `sluice move`. Changes nothing in the source; pause the queue for a snapshot of one moment. Goes on after a queue that is damaged, and then fails.',
  group: 'Stores',
  endsAfterAbort: true,
  positionals: queuesOfStores,
  examples: [
    { line: 'sluice copy sqlite:./queue.db sqlite:./copy.db orders', does: 'one queue' },
    { line: 'sluice copy postgres://app@db/app sqlite:./backup.db', does: 'every queue' },
  ],
  json: '{ queues: [{ queue, copied }] }',
  async run(context) {
    const { input, print } = context
    const [fromText = '', toText = ''] = input.positionals(0)
    const queues = input.positionals(2).map(checkedQueue)
    const from = await context.storeAt(fromText, 'existing')
    const to = await context.storeAt(toText, 'create')
    const [source, target] = [from, to].map(({ address }) =>
      JSON.stringify({ ...address, label: '' }),
    )
    if (source === target) throw oneStoreError()
    await refuseUnknown(context, from.inspection, queues)
    const names = queues.length > 0 ? queues : await from.inspection.queues()
    const copied: { queue: string; copied: number }[] = []
    const errors: unknown[] = []
    for (const queue of names) {
      try {
        copied.push({ queue, copied: await copyQueue(context, queue, from, to) })
      } catch (error) {
        // The others are copied all the same.
        if (!isOfDamage(error)) throw error
        errors.push(error)
      }
    }
    await print.endProgress()
    if (copied.length === 0 && errors.length > 0) throw errors[0]
    if (print.isDocument) await print.document({ queues: copied })
    else if (copied.length === 0) await print.note('no queues to copy')
    else {
      await print.lines(
        copied.map((each) => `${shown(each.queue)}: ${manyWords(each.copied, 'key')} copied`),
      )
    }
    if (errors.length > 0) throw new CommandErrors(errors)
  },
}

async function copyQueue(
  context: Context,
  name: string,
  from: OpenStore,
  to: OpenStore,
): Promise<number> {
  const { print, signal } = context
  const { createQueue } = await import('sluice')
  const { exportQueue, importQueue } = await import('sluice/transfer')
  const source = createQueue<never>({ name, driver: from.driver })
  const target = createQueue<never>({ name, driver: to.driver })
  context.defer(() => Promise.all([source.close(), target.close()]).then(() => undefined))
  let count = 0
  async function* lines(): AsyncGenerator<string> {
    for await (const line of exportQueue(source)) {
      signal.throwIfAborted()
      yield line
      count += 1
      if (count % 1_000 === 0) await print.progress(`${shown(name)}: ${count} lines copied`)
    }
  }
  const { imported, merged, unchanged } = await importQueue(target, lines())
  return imported + merged + unchanged
}
