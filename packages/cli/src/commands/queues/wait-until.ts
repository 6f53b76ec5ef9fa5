import { type CommandSpec, queueArgument } from '../../command.ts'
import { shown } from '../../output/escape.ts'
import { counted, type QueueRow, queueRow } from '../../rows/queue-rows.ts'
import { repeatedReads } from '../../rows/repeated-reads.ts'
import { knownQueue } from '../../stores/known-queue.ts'

export const waitUntil: CommandSpec = {
  name: 'wait',
  alias: 'drain',
  summary: 'Wait until a queue is drained: no key of it is ready or held',
  details:
    'Workers do the work. Does not wait for delayed keys, keys in back-off and parked keys. Exits with 1 after --timeout.',
  group: 'Queues',
  positionals: [queueArgument],
  options: [
    { flags: '--interval <DURATION>', summary: 'the interval between reads (default: 2s)' },
  ],
  examples: [{ line: 'sluice wait orders --timeout 5m', does: 'wait at most five minutes' }],
  json: '{ queue, drained: true }',
  async run(context) {
    const { input, print, signal } = context
    const queue = input.queue()
    const { inspection } = await context.store('existing')
    await knownQueue(context, inspection, queue)
    let said = ''
    const reads = repeatedReads(context, signal, () => queueRow(inspection, queue))
    for await (const row of reads) {
      const { ready, processing, dirty } = row.counts
      const held = processing + dirty
      if (ready + held === 0) break
      const warning = warningOf(row)
      if (warning !== undefined && warning !== said) await print.warn(`${shown(queue)} ${warning}`)
      said = warning ?? ''
      await print.progress(
        `${shown(queue)}: ${counted(ready, row)} ready, ${counted(held, row)} held`,
      )
    }
    // The signal ends the command; there is nothing to clean up.
    if (signal.aborted) return
    await print.endProgress()
    if (print.isDocument) await print.document({ queue, drained: true })
    else await print.lines([`${shown(queue)} is drained`])
  },
}

function warningOf({ paused, severity }: QueueRow): string | undefined {
  if (paused) return 'is paused: ready keys stay ready until it is resumed'
  return severity === 'no workers' ? 'has no workers: no key runs until one is started' : undefined
}
