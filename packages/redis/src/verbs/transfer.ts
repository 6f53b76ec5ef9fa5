import {
  type BucketRow,
  type DropOutcome,
  type DueReason,
  type ImportOutcome,
  SluiceTypeError,
  type Transfer,
  type TransferRow,
} from '@sluice/core/driver'
import { instant, number } from '../rows/columns.ts'
import type { ScriptName } from '../scripts.ts'
import { type Store, verbStart } from '../store.ts'

const reasons: readonly DueReason[] = ['add', 'delay', 'backoff']
const importOutcomes: readonly ImportOutcome[] = ['imported', 'merged', 'unchanged']
const dropOutcomes: readonly DropOutcome[] = ['dropped', 'changed', 'missing']

function rowArgs(row: TransferRow): string[] {
  const cells = [
    row.dueAt,
    reasons.indexOf(row.why),
    row.laterAt,
    reasons.indexOf(row.laterWhy),
    row.readyAt,
    row.seq,
    row.priority,
    row.askedAt,
    row.failures,
    row.crashes,
    row.failedAt,
    row.parked ? 1 : 0,
  ]
  return [row.key, row.item ?? '', row.lastError ?? '', cells.map(instant).join(' ')]
}

/** Adds again what this store has acknowledged before, after another server has become the primary. */
export async function replayRows(
  store: Store,
  queue: string,
  rows: readonly TransferRow[],
): Promise<void> {
  await store.repeat('import', queue, ['replay', String(rows.length), ...rows.flatMap(rowArgs)])
}

async function transferRows<Outcome>(
  store: Store,
  script: ScriptName,
  queue: string,
  rows: readonly TransferRow[],
  outcomes: readonly Outcome[],
): Promise<readonly Outcome[]> {
  const mode = script === 'import' ? ['import'] : []
  const args = [...mode, String(rows.length), ...rows.flatMap(rowArgs)]
  const reply = await store.run(script, queue, args)
  return rows.map((_, index) => outcomes[number(reply[verbStart + index])]!)
}

/** In a cluster a bucket is stored with its queue, so it must be the queue's own. */
function queueOf(store: Store, { name }: BucketRow): string {
  if (name.startsWith('queue:')) return name.slice('queue:'.length)
  if (store.layout.isShared) return ''
  throw new SluiceTypeError(
    'buckets',
    `must not contain '${name}': in a Redis cluster queues share no buckets; open the store with oneSlot`,
  )
}

/** The verbs that move keys between stores. */
export function transfer(
  store: () => Store,
  wake: (queue: string) => void,
  strike: (queue: string, keys: readonly string[]) => void,
): Transfer {
  /** The tokens of every queue; of one of them where all share them. */
  const tokens = async (floor: string): Promise<readonly number[]> => {
    const { layout } = store()
    const names = layout.isShared ? [''] : await store().registeredQueues()
    const replies = await Promise.all(names.map((name) => store().run('tokens', name, [floor])))
    return replies.map((reply) => number(reply[verbStart]))
  }
  return {
    async importRows(queue, rows) {
      const outcomes = await transferRows(store(), 'import', queue, rows, importOutcomes)
      wake(queue)
      return outcomes
    },
    async dropRows(queue, rows) {
      const outcomes = await transferRows(store(), 'drop', queue, rows, dropOutcomes)
      const isDropped = (_: TransferRow, index: number): boolean => outcomes[index] === 'dropped'
      strike(
        queue,
        rows.filter(isDropped).map(({ key }) => key),
      )
      return outcomes
    },
    async importBuckets(rows) {
      const queueNames = rows.map((row) => queueOf(store(), row))
      return await Promise.all(
        rows.map(async (row, index): Promise<ImportOutcome> => {
          const cells = [row.perSecond, row.burst, row.tokens, row.at].map(instant).join(' ')
          const reply = await store().run('importBuckets', queueNames[index]!, [
            '1',
            row.name,
            cells,
          ])
          return reply[verbStart] === 1 ? 'imported' : 'unchanged'
        }),
      )
    },
    async lastToken() {
      return Math.max(0, ...(await tokens('')))
    },
    async raiseTokens(floor) {
      await tokens(String(floor))
    },
  }
}
