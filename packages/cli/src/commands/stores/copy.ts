import { manyWords } from '@sluice/core/words'
import { type CommandSpec, queuesOfStores } from '../../command.ts'
import { oneStoreError } from '../../command-error.ts'
import type { Context } from '../../context.ts'
import { checkedQueue } from '../../input.ts'
import { shown } from '../../output/escape.ts'
import { refuseUnknown } from '../../stores/known-queue.ts'
import type { OpenStore } from '../../stores/open-store.ts'

export const copy: CommandSpec = {
  name: 'copy',
  summary: 'Copy queues to another store; the source stays as it is',
  details:
    'Existing keys are merged: the earlier of two times and the higher of two priorities and counts win, and existing items are kept. Workers on both stores then run the same keys; to hand a queue over, use `sluice move`. Changes nothing in the source; pause the queue for a snapshot of one moment.',
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
    for (const queue of names) {
      copied.push({ queue, copied: await copyQueue(context, queue, from, to) })
    }
    await print.endProgress()
    if (print.isDocument) return await print.document({ queues: copied })
    await print.lines(
      copied.map((each) => `${shown(each.queue)}: ${manyWords(each.copied, 'key')} copied`),
    )
    if (copied.length === 0) await print.note('no queues to copy')
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
