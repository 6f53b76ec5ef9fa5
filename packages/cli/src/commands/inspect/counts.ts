import { keyStateWords } from '@sluice/core'
import { type CommandSpec, queueArgument } from '../../command.ts'
import { shown } from '../../output/escape.ts'
import { knownQueue } from '../../stores/known-queue.ts'

/** More keys than a store can have. */
const noCap = Number.MAX_SAFE_INTEGER

export const counts: CommandSpec = {
  name: 'counts',
  summary: 'Count the keys of a queue by state',
  details:
    'Counting stops at 10000 keys of a state, which is shown as 10000+, unless --exact is given: that reads every key of the queue; on SQLite in one statement for each state, which neither Ctrl-C nor --timeout interrupts.',
  group: 'Inspect',
  positionals: [queueArgument],
  options: [{ flags: '--exact', summary: 'count every key, however many there are' }],
  examples: [{ line: 'sluice counts orders --exact', does: 'how many there really are' }],
  json: '{ queue, paused, counts: { ready, delayed, … }, capped }',
  async run(context) {
    const { input, print } = context
    const queue = input.queue()
    const { inspection } = await context.store('existing')
    const inspect = await knownQueue(context, inspection, queue)
    const found = await inspect.counts(input.flag('exact') ? { cap: noCap } : {})
    const { paused, capped, oldestReadyAt: _, heldUntil: __, ...byState } = found
    const word = (count: number): string => (capped && count >= 10_000 ? `${count}+` : `${count}`)
    await print.listing({
      rows: keyStateWords.map((state) => ({ state, count: found[state] })),
      columns: () => [
        { title: 'STATE', text: ({ state }) => state },
        { title: 'KEYS', text: ({ count }) => word(count) },
      ],
      name: ({ state }) => state,
      document: () => ({ queue, paused, counts: byState, capped }),
      none: `no keys in ${shown(queue)}`,
    })
  },
}
