import type { OperateOutcome } from '@sluice/core'
import { type CommandSpec, queueArgument } from '../../command.ts'
import { usageError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { shown } from '../../output/escape.ts'
import { knownQueue } from '../../stores/known-queue.ts'

export const release: CommandSpec = {
  name: 'release',
  summary: 'Take held keys from their workers, such as from one that hangs',
  details:
    'Puts the run back in line, without a failure. The worker is not stopped, but its claim has no effect any more; what it writes elsewhere is fenced only by the token.',
  group: 'Keys',
  positionals: [queueArgument, { name: 'KEY', summary: 'the keys', kind: 'key', variadic: true }],
  options: [
    { flags: '--token <N>', summary: 'only if the key is still held under this token; one KEY' },
  ],
  examples: [
    {
      line: 'sluice leases orders',
      does: 'which keys are held, by which worker, under which token',
    },
    { line: 'sluice release orders order/42', does: 'put it back in line for another worker' },
  ],
  json: '{ queue, verb, results: [{ key, outcome }] }',
  async run(context) {
    const { input, print } = context
    const queue = input.queue()
    const keys = input.keys(1)
    const token = input.whole('token', { min: 1 })
    if (token !== undefined && keys.length > 1) throw usageError('--token goes with one KEY')
    const { inspection } = await context.store('existing')
    const inspect = await knownQueue(context, inspection, queue)
    const notHeld = token === undefined ? 'is not held' : `is not held under token ${token}`
    const results: { key: string; outcome: OperateOutcome }[] = []
    for (const key of keys) {
      results.push({ key, outcome: await inspect.release(key, { token }) })
    }
    if (print.isDocument) await print.document({ queue, verb: 'release', results })
    else if (print.format === 'name') await print.names(keys)
    else {
      for (const { key, outcome } of results) {
        if (outcome === 'missing') await print.note(`${shown(key)} does not exist`)
        else await print.lines([`${shown(key)} ${outcome === 'changed' ? 'released' : notHeld}`])
      }
    }
    const isMissing = results.some(({ outcome }) => outcome === 'missing')
    return isMissing ? exitCodes.notFound : exitCodes.ok
  },
}
