import type { EpochMs, WorkerRow } from '@sluice/core'
import type { Inspect, KeyInfo, StoreInspection } from 'sluice'
import type { CommandSpec } from '../../command.ts'
import { formatAge } from '../../duration.ts'
import { safeJson, shown } from '../../output/escape.ts'
import type { Column } from '../../output/table.ts'
import { printWatched, watchOptions } from '../../rows/print-watched.ts'
import { type QueuesRead, queueNames, readQueues } from '../../rows/queue-rows.ts'

/** A held key. */
interface LeaseRow {
  readonly queue: string
  readonly key: string
  readonly state: string
  readonly token: number
  readonly leaseUntil?: EpochMs
  readonly holder?: string
  /** The machine and the process of the holder, if it is on the list of workers. */
  readonly host?: string
  readonly pid?: number
  readonly failures: number
  readonly crashes: number
}

/** How many held keys of a queue are shown. */
const keysMax = 1_000

function rowOf(queue: string, info: KeyInfo, workers: readonly WorkerRow[]): LeaseRow | undefined {
  const { key, state, held, failures, crashes } = info
  if (held === undefined) return undefined
  const worker = workers.find(({ holder }) => holder === held.holder)
  return {
    queue,
    key,
    state,
    token: held.token,
    ...(held.leaseUntil === undefined ? {} : { leaseUntil: held.leaseUntil }),
    ...(held.holder === undefined ? {} : { holder: held.holder }),
    ...(worker === undefined ? {} : { host: worker.host, pid: worker.pid }),
    failures,
    crashes,
  }
}

/** The first keys in a state. A page may be short, or empty, and still not be the last. */
async function heldKeys(inspect: Inspect, state: 'processing' | 'dirty'): Promise<KeyInfo[]> {
  const keys: KeyInfo[] = []
  let cursor: string | undefined
  do {
    const limit = keysMax - keys.length
    const page = await inspect.list({ state, limit, cursor })
    keys.push(...page.keys)
    cursor = page.cursor
  } while (cursor !== undefined && keys.length < keysMax)
  return keys
}

async function leasesOf(queue: string, inspect: Inspect): Promise<LeaseRow[]> {
  const workers = await inspect.workers()
  // A key that becomes dirty between the two reads is in both.
  const rows = new Map<string, LeaseRow>()
  for (const state of ['processing', 'dirty'] as const) {
    for (const info of await heldKeys(inspect, state)) {
      const row = rowOf(queue, info, workers)
      if (row !== undefined) rows.set(row.key, row)
    }
  }
  return [...rows.values()]
}

async function allLeases(
  store: StoreInspection,
  names: readonly string[],
): Promise<QueuesRead<LeaseRow>> {
  const { read, unread } = await readQueues(names, (name) => leasesOf(name, store.queue(name)))
  // The lease that ends first is the most suspicious one.
  const rows = read.flat().sort((a, b) => (a.leaseUntil ?? Infinity) - (b.leaseUntil ?? Infinity))
  return { read: rows, unread }
}

function leftOf({ leaseUntil }: LeaseRow, now: EpochMs): string {
  if (leaseUntil === undefined) return ''
  return leaseUntil > now
    ? formatAge(leaseUntil - now)
    : `expired ${formatAge(now - leaseUntil)} ago`
}

function columnsAt(now: EpochMs): readonly Column<LeaseRow>[] {
  return [
    { title: 'QUEUE', text: ({ queue }) => shown(queue) },
    { title: 'KEY', text: ({ key }) => shown(key) },
    { title: 'STATE', text: ({ state }) => state },
    { title: 'TOKEN', text: ({ token }) => String(token) },
    { title: 'LEASE', text: (row) => leftOf(row, now) },
    {
      title: 'PROCESS',
      text: ({ host, pid }) => (host === undefined ? '' : shown(`${host}:${pid}`)),
    },
    { title: 'FAILURES', wide: true, text: ({ failures }) => String(failures) },
    { title: 'CRASHES', wide: true, text: ({ crashes }) => String(crashes) },
    {
      title: 'HOLDER',
      wide: true,
      text: ({ holder }) => (holder === undefined ? '' : shown(holder)),
    },
  ]
}

export const leases: CommandSpec = {
  name: 'leases',
  summary: 'List the keys that are held, with their workers and leases',
  details:
    'The lease that ends first comes first. A key whose lease expires runs again; `sluice release` takes a key back at once. At most 1000 keys of each state and queue are shown.',
  group: 'Inspect',
  positionals: [{ name: 'QUEUE', summary: 'only this queue', kind: 'queue', optional: true }],
  options: watchOptions,
  examples: [{ line: 'sluice leases orders -o wide', does: 'with failures and the holder' }],
  json: '{ leases: [{ queue, key, state, token, leaseUntil?, holder?, host?, pid?, failures, crashes }] }',
  async run(context) {
    const { inspection } = await context.store('existing')
    const names = await queueNames(context, inspection)
    await printWatched(context, {
      async look() {
        const [{ read: rows, unread }, now] = await Promise.all([
          allLeases(inspection, await names()),
          inspection.now(),
        ])
        return {
          rows,
          columns: () => columnsAt(now),
          name: ({ queue, key }) => `${queue}/${key}`,
          id: ({ queue, key }) => safeJson([queue, key]),
          document: () => ({ leases: rows }),
          none: 'no keys are held',
          unread,
        }
      },
      asJson: (row) => row,
    })
  },
}
