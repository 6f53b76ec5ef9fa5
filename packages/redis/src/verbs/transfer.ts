import {
  type BucketRow,
  type DropOutcome,
  type DueReason,
  type ImportOutcome,
  SluiceTypeError,
  type Transfer,
  type TransferRow,
} from '@sluice/core/driver'
import type { Promised } from '../journal.ts'
import { instant, number } from '../rows/columns.ts'
import type { ScriptName } from '../scripts.ts'
import { type Store, verbStart, type Written, writtenOf } from '../store.ts'
import type { Discard } from './change.ts'

const reasons: readonly DueReason[] = ['add', 'delay', 'backoff']
const importOutcomes: readonly ImportOutcome[] = ['imported', 'merged', 'unchanged']
const dropOutcomes: readonly DropOutcome[] = ['dropped', 'changed', 'missing']

function rowArgs(row: TransferRow, lastSeq?: number, by?: string): string[] {
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
  ].map(instant)
  return [
    row.key,
    row.item ?? '',
    row.lastError === undefined ? '' : `=${row.lastError}`,
    [...cells, lastSeq ?? '-', by || '-', row.trace ?? ''].join(' '),
  ]
}

/** What the script says of a run that the new primary knew already. */
const known = 3

/** What was repeated on a primary. */
export interface ReplayedRuns {
  /** The keys whose adds the primary did not have. */
  readonly keys: readonly string[]
  /** A primary that has the last number of this one has them, too. */
  readonly written: Written
}

/** Adds again what this store has acknowledged before, after another server has become the primary. */
export async function replayRuns(
  store: Store,
  queue: string,
  runs: readonly Promised[],
): Promise<ReplayedRuns> {
  const args = runs.flatMap(({ row, lastSeq, by }) => rowArgs(row, lastSeq, by))
  const reply = await store.repeat('import', queue, ['replay', String(runs.length), ...args])
  const missing = runs.filter((_, index) => number(reply[verbStart + index]) !== known)
  return { keys: missing.map(({ row }) => row.key), written: writtenOf(reply) }
}

async function transferRows<Outcome>(
  store: Store,
  script: ScriptName,
  queue: string,
  rows: readonly TransferRow[],
  outcomes: readonly Outcome[],
): Promise<{ readonly outcomes: readonly Outcome[]; readonly written: Written }> {
  const mode = script === 'import' ? ['import'] : []
  const args = [...mode, String(rows.length), ...rows.flatMap((row) => rowArgs(row))]
  const reply = await store.run(script, queue, args)
  const all = rows.map((_, index) => outcomes[number(reply[verbStart + index])]!)
  return { outcomes: all, written: writtenOf(reply) }
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
  discard: Discard,
): Transfer {
  /** The names of the queues that have a last token; of one of them where all share it. */
  const counting = async (): Promise<readonly string[]> => {
    return store().layout.isShared ? [''] : await store().registeredQueues()
  }
  return {
    async importRows(queue, rows) {
      const { outcomes } = await transferRows(store(), 'import', queue, rows, importOutcomes)
      wake(queue)
      return outcomes
    },
    async dropRows(queue, rows) {
      const dropped = await transferRows(store(), 'drop', queue, rows, dropOutcomes)
      const { outcomes, written } = dropped
      const isDropped = (_: TransferRow, index: number): boolean => outcomes[index] === 'dropped'
      discard(
        queue,
        rows.filter(isDropped).map(({ key }) => key),
        written,
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
      // No script that may write: a copy is wanted most of a server that refuses writes.
      const read = async (queue: string): Promise<number> => {
        const { scope } = store().layout.of(queue)
        return number(await store().read(scope, ['HGET', scope, 'token']))
      }
      return Math.max(0, ...(await Promise.all((await counting()).map(read))))
    },
    async raiseTokens(floor) {
      // Before the queues are listed: one that is registered later reads it.
      await store().raiseFloor(String(floor))
      await Promise.all(
        (await counting()).map((name) => store().run('tokens', name, [String(floor)])),
      )
    },
  }
}
