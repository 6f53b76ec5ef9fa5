// This folder is the commands for whole queues.

import type { OperateOutcome } from '@sluice/core'
import type { Inspect } from 'sluice'
import type { CommandSpec } from '../../command.ts'
import { checkedQueue } from '../../input.ts'
import { shown } from '../../output/escape.ts'
import { refuseUnknown } from '../../stores/known-queue.ts'

/** An operation on whole queues. */
export interface QueueVerb {
  readonly name: string
  readonly summary: string
  readonly details: string
  /** The outcome for a changed queue: `paused`. */
  readonly past: string
  act(inspect: Inspect): Promise<OperateOutcome>
}

/** The command for an operation on named queues. */
export function queueCommand(verb: QueueVerb): CommandSpec {
  return {
    name: verb.name,
    summary: verb.summary,
    details: verb.details,
    group: 'Queues',
    positionals: [{ name: 'QUEUE', summary: 'the names of queues', kind: 'queue', variadic: true }],
    examples: [{ line: `sluice ${verb.name} orders`, does: 'one queue' }],
    json: '{ verb, results: [{ queue, outcome }] }',
    async run(context) {
      const { input, print } = context
      const queues = input.positionals(0).map(checkedQueue)
      const { inspection } = await context.store('existing')
      // All of them before the first is changed.
      await refuseUnknown(context, inspection, queues)
      const results: { queue: string; outcome: OperateOutcome }[] = []
      for (const queue of queues) {
        results.push({ queue, outcome: await verb.act(inspection.queue(queue)) })
      }
      if (print.isDocument) await print.document({ verb: verb.name, results })
      else if (print.format === 'name') await print.names(queues)
      else {
        await print.lines(
          results.map(({ queue, outcome }) => {
            return `${shown(queue)} ${outcome === 'unchanged' ? `was ${verb.past} already` : verb.past}`
          }),
        )
      }
    },
  }
}
