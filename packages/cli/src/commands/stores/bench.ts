import type { CommandSpec } from '../../command.ts'
import type { Context } from '../../context.ts'
import { formatSpan } from '../../duration.ts'
import type { Column } from '../../output/table.ts'
import type { OpenStore } from '../../stores/open-store.ts'

/** The default number of keys, and the size of a batch. */
const keysDefault = 2_000
const batch = 500

/** How many keys are added one by one; each add is awaited. */
const singlesMax = 200

/** The result of one part of the run. */
interface Measured {
  readonly what: string
  readonly keys: number
  readonly ms: number
  readonly perSecond: number
}

function measured(what: string, keys: number, ms: number): Measured {
  return { what, keys, ms: Number(ms.toFixed(3)), perSecond: Math.round((keys * 1_000) / ms) }
}

/** Adds, claims and finishes keys in a queue of its own. */
async function run(
  context: Context,
  { driver }: OpenStore,
  queueName: string,
  keys: number,
): Promise<readonly Measured[]> {
  const { print, signal, terminal } = context
  const { createQueue } = await import('sluice')
  const queue = createQueue<string>({ name: queueName, driver })
  context.defer(() => queue.close())
  const { clock } = terminal
  const timed = async (
    what: string,
    count: number,
    work: () => Promise<void>,
  ): Promise<Measured> => {
    await print.progress(what)
    const start = clock.monotonicMs()
    await work()
    return measured(what, count, Math.max(clock.monotonicMs() - start, 0.001))
  }
  const singles = Math.min(singlesMax, keys)
  return [
    await timed('add, one by one', singles, async () => {
      for (let at = 0; at < singles; at += 1) {
        signal.throwIfAborted()
        await queue.add(`single/${at}`)
      }
    }),
    await timed(`add, ${batch} at a time`, keys, async () => {
      for (let from = 0; from < keys; from += batch) {
        signal.throwIfAborted()
        const count = Math.min(batch, keys - from)
        await queue.addMany(Array.from({ length: count }, (_, at) => `key/${from + at}`))
      }
    }),
    await timed(`claim and done, ${batch} at a time`, singles + keys, async () => {
      for (let left = singles + keys; left > 0; ) {
        signal.throwIfAborted()
        const helds = await queue.getMany(Math.min(batch, left), { signal })
        await queue.doneMany(helds)
        left -= helds.length
      }
    }),
  ]
}

export const bench: CommandSpec = {
  name: 'bench',
  summary: 'Measure the throughput of a store',
  details:
    'Uses a queue of its own, which is removed afterwards. Other queues are not changed, but share the machine. Also accepts memory:.',
  group: 'Stores',
  endsAfterAbort: true,
  options: [{ flags: '--keys <N>', summary: 'how many keys (default: 2000)' }],
  examples: [{ line: 'sluice bench -s sqlite:./queue.db --keys 20000', does: 'a longer run' }],
  json: '{ store, results: [{ what, keys, ms, perSecond }] }',
  async run(context) {
    const { input, print, terminal } = context
    const keys = input.whole('keys', { min: 1, max: 1_000_000 }) ?? keysDefault
    const store = await context.store('private')
    const queue = `sluice-bench-${terminal.uniqueId()}`
    context.defer(async () => void (await store.inspection.queue(queue).purge()))
    const results = await run(context, store, queue, keys)
    await print.endProgress()
    await print.listing({
      rows: results,
      columns: (): readonly Column<Measured>[] => [
        { title: 'WHAT', text: ({ what }) => what },
        { title: 'KEYS', text: (row) => String(row.keys) },
        { title: 'TIME', text: ({ ms }) => formatSpan(ms) },
        { title: 'KEYS/S', text: ({ perSecond }) => String(perSecond) },
      ],
      name: ({ what }) => what,
      document: () => ({ store: store.address.label, results }),
      none: 'nothing was measured',
    })
  },
}
