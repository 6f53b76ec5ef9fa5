import { type ExpireOutcome, type Failure, type Lease, SluiceError } from '@sluice/core'
import { textOf } from '../environment/environment.ts'
import { type Described, describeFailure } from './describe-failure.ts'
import type { Remark } from './error-reports.ts'

const ends = {
  retried: 'it is retried',
  parked: 'it is parked until it is unparked',
  dropped: 'it is not retried',
  decided: 'onExhausted decides what becomes of it',
  abandoned: 'it is retried when its lease, if it has one, ends',
}

/** The next state of a key whose run has failed. */
export type EndOfRun = keyof typeof ends

/** The remark on a run that failed. */
export interface RunFailure {
  /** The key as it was handed out, with how many runs have failed before this one. */
  readonly held: {
    readonly key: string
    readonly failures: number
    readonly signal: AbortSignal
  }
  readonly error: unknown
  /** The error as it is stored, with the user's redaction applied. */
  readonly described: Described | undefined
  /** Absent: the handler has ended, and its key could not be finished. */
  readonly end: EndOfRun | undefined
}

/** The remark about a run that failed. */
export function failedRun({ held, error, described, end }: RunFailure): Remark {
  const { key, failures, signal } = held
  const isLost = SluiceError.is(signal.reason, 'ERR_LEASE_LOST')
  const said = described === undefined ? textOf(error) : errorWords(described.text)
  const run = `run of key ${JSON.stringify(key)}`
  return {
    level: end === 'retried' ? 'warn' : 'error',
    text:
      end === undefined
        ? `at the end of a ${run}: ${said}`
        : `a ${run} failed (failure ${failures + 1}): ${said}; ${isLost ? 'its lease was lost' : ends[end]}`,
    kind: `run ${end} ${described?.code}`,
    hint: '. Further failures are printed once a minute for each error code; createWorker({ onError }) gets all',
  }
}

/** A stored error in one line: `TypeError: x is not a function`. */
function errorWords(stored: string): string {
  const { name, code, message } = JSON.parse(stored) as Record<string, string | undefined>
  const isSaid = code === undefined || message?.includes(code) === true
  return `${name}: ${message}${isSaid ? '' : ` [${code}]`}`
}

/** The last error of a key whose worker vanished, as it is stored. */
export const vanished: string | undefined = describeFailure(
  new SluiceError(
    'ERR_LEASE_LOST',
    'the worker vanished: its lease ended before it gave the key back',
  ),
  { redactError: undefined, errorStacks: false },
  () => undefined,
)?.text

/** The remarks about leases that were ended: one about keys that run again, one about parked keys. */
export function endedLeases(
  leases: readonly Lease[],
  outcomes: readonly (ExpireOutcome | Failure)[],
  maxCrashes: number,
): Remark[] {
  const keysOf = (outcome: ExpireOutcome): string[] =>
    leases.filter((_, at) => outcomes[at] === outcome).map(({ key }) => key)
  const again = keysOf('expired')
  const parked = keysOf('parked')
  const remarks: Remark[] = []
  if (again.length > 0) {
    remarks.push({
      level: 'warn',
      kind: 'vanished',
      text:
        `a worker vanished or was held up before it gave back ${someKeys(again)}: a failure is ` +
        `counted, and the run is repeated; ${maxCrashes} such ends in a row park a key`,
      hint: '. stopOnSignals([worker, queue]) lets runs finish at Ctrl-C',
    })
  }
  if (parked.length > 0) {
    remarks.push({
      level: 'error',
      kind: 'vanished and parked',
      text:
        `a worker vanished or was held up before it gave back ${someKeys(parked)}, which is parked ` +
        `now, by maxCrashes (${maxCrashes}) or by an operator: it does not run until it is unparked`,
      hint: '. `sluice explain` says more, `sluice unpark` puts it back',
    })
  }
  return remarks
}

function someKeys([first = '', ...more]: readonly string[]): string {
  const named = `key ${JSON.stringify(first)}`
  return more.length === 0 ? named : `${named} (and ${more.length} more)`
}
