import { setTimeout as passes } from 'node:timers/promises' // real time: what a process does in it is counted
import { type HoldUp, heldUpMs, monotonicNow, watchHoldUps } from '@sluice/needs/hold-ups'
import type { Trouble } from './troubles.ts'
import { WorkingProcess, workingLeaseMs } from './working-process.ts'

/** What one process did while its store was in trouble, and how soon it was back. */
export interface OutageReport {
  readonly name: string
  /** How long the trouble lasted: as long as was asked for, or longer on a busy machine. */
  readonly seconds: number
  /** Calls of the store that the library made automatically. */
  readonly attempts: number
  /** All calls of the store, by verb. */
  readonly calls: Readonly<Record<string, number>>
  readonly connections: number
  readonly cpuMs: number
  /** Errors that were reported, by code. */
  readonly codes: Readonly<Record<string, number>>
  /**
   * From the end of the trouble to the first run that began, without the time for which the machine held a
   * process up; `undefined`: none within the wait.
   */
  readonly firstRunMs: number | undefined
  /** The same, to the acknowledgement of an add that was sent at the end. */
  readonly firstAddMs: number | undefined
  /** How long a connection and a statement took meanwhile that were in no trouble, at most. */
  readonly reachMs: number
  /** But for those that the machine took away, by holding the process up. */
  readonly lostLeases: number
  /** Why the worker ended, if it did. */
  readonly stopped: string | undefined
}

/** How long a process is given to be back: longer than it may take. */
const recoveryMsMax = 60_000

/** How many connections and calls it makes one after the other until it is back, at most. */
const stepsMax = 5

/** How long a process may take to say something else: only ends what hangs. */
const saysMsMax = 240_000

/** Keys that fall due one after another during the trouble. */
const due = 20

/**
 * Brings the store of a working process into trouble for a while, and counts. `reach` connects to a server
 * that is in no trouble and makes a call.
 */
export async function outage(
  trouble: Trouble,
  ms: number,
  reach: () => Promise<void>,
): Promise<OutageReport> {
  const working = new WorkingProcess(trouble.address)
  const holdUps: HoldUp[] = []
  const unwatch = watchHoldUps((heldUp) => holdUps.push(heldUp))
  try {
    const isUp = await working.hears(({ began }) => began === 'held', saysMsMax)
    if (isUp === undefined) throw new Error(`${trouble.name}: no run has begun`)
    working.tell(`due ${due} ${ms + 1_000}`)
    const delayed = await working.hears((said) => said.delayed === due, saysMsMax)
    if (delayed === undefined) throw new Error(`${trouble.name}: the keys were not added`)
    await passes(500)
    // A call may fail and be reported while the trouble begins.
    const untroubled = await working.report()
    await trouble.begin()
    const beganAt = monotonicNow()
    const before = await working.report()
    working.tell('soon')
    await passes(ms)
    let after = await working.report()
    const codes = (): Readonly<Record<string, number>> => less(after.codes, untroubled.codes)
    // A process that was held up all the time has not met the trouble yet.
    while (!isNoticed(trouble.name, codes()) && monotonicNow() - beganAt < saysMsMax) {
      await passes(100)
      after = await working.report()
    }
    const from = working.said.length
    const endedAt = monotonicNow()
    await trouble.end()
    working.tell('add first')
    const isBegun = ({ began, at = 0 }: { began?: string; at?: number }): boolean =>
      began !== undefined && at >= endedAt
    const backAgain = Promise.all([
      working.hears(isBegun, recoveryMsMax, from),
      working.hears(({ added }) => added === 'first', recoveryMsMax, from),
    ])
    const reaching = longestReach(reach, backAgain)
    const [run, add] = await backAgain
    const reachMs = await reaching
    // The end itself takes leases away.
    const saidBefore = [...working.said]
    // It says until then when it was held up.
    await working.end()
    unwatch()
    for (const { heldUp } of working.said) if (heldUp !== undefined) holdUps.push(heldUp)
    const sinceEnd = (at: number | undefined): number | undefined =>
      at === undefined ? undefined : Math.round(at - endedAt - heldUpMs(holdUps, endedAt, at))
    const sum = (calls: Readonly<Record<string, number>>): number =>
      Object.values(calls).reduce((total, count) => total + count, 0)
    const calls = less(after.calls, before.calls)
    return {
      name: trouble.name,
      seconds: (endedAt - beganAt) / 1_000,
      // The first try of what the program itself asked for is not counted.
      attempts: Math.max(0, sum(calls) - (after.added - before.added)),
      connections: after.connections - before.connections,
      cpuMs: after.cpuMs,
      codes: codes(),
      calls,
      firstRunMs: sinceEnd(run?.at),
      firstAddMs: sinceEnd(add?.at),
      reachMs,
      lostLeases: saidBefore.filter(
        ({ lost, at = 0 }) => lost !== undefined && !isTakenAway(holdUps, at),
      ).length,
      stopped: saidBefore.find(({ stopped }) => stopped !== undefined)?.stopped,
    }
  } finally {
    unwatch()
    await working.end()
    await trouble.dispose()
  }
}

function less(
  counts: Readonly<Record<string, number>>,
  earlier: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(counts)
      .map(([name, count]) => [name, count - (earlier[name] ?? 0)] as const)
      .filter(([, count]) => count > 0),
  )
}

/** Whether the errors that were reported are those of this trouble; in some, calls only wait for an answer. */
function isNoticed(name: string, codes: Readonly<Record<string, number>>): boolean {
  const isWaitedFor = ['half-open', 'silent', 'locked'].some((mode) => name.endsWith(mode))
  return isWaitedFor || Object.keys(codes).length > 0
}

/** Whether the machine held a process up for so much of a lease that a renewal was not sent in time. */
function isTakenAway(holdUps: readonly HoldUp[], endedAt: number): boolean {
  const renewalMs = workingLeaseMs / 3
  return heldUpMs(holdUps, endedAt - workingLeaseMs, endedAt) >= renewalMs
}

/** How long it takes to reach a server until something has ended, at most. */
async function longestReach(reach: () => Promise<void>, ending: Promise<unknown>): Promise<number> {
  let hasEnded = false
  void ending.then(() => {
    hasEnded = true
  })
  let longestMs = 0
  while (!hasEnded) {
    const startedAt = monotonicNow()
    await reach()
    longestMs = Math.max(longestMs, monotonicNow() - startedAt)
    await passes(50)
  }
  return longestMs
}

/**
 * What is wrong with a report, by the rule for a store in trouble. `ruleMs` is how long it may take until
 * work goes on, beside the steps that this takes on a machine as busy as it was.
 */
export function outageFaults(report: OutageReport, ruleMs: number): string[] {
  const { name, seconds, attempts, connections, firstRunMs, firstAddMs, lostLeases } = report
  const faults: string[] = []
  // What is under way when the trouble comes has been tried already: one call of each kind.
  const most = 2 * seconds + 4
  const check = (isMet: boolean, what: string): void => {
    if (!isMet) faults.push(`${name}: ${what}`)
  }
  const isHalfOpen = name.endsWith('half-open')
  check(isHalfOpen || attempts <= most, `${attempts} automatic attempts in ${seconds.toFixed(1)} s`)
  // While new connections work, as many are opened as the pool needs.
  check(connections <= most + (isHalfOpen ? 10 : 0), `${connections} new connections`)
  const backMsMax = ruleMs + stepsMax * report.reachMs
  const late = `more than ${Math.round(backMsMax)} ms`
  check(
    (firstRunMs ?? Infinity) <= backMsMax,
    `the first run began after ${firstRunMs} ms, ${late}`,
  )
  check(
    (firstAddMs ?? Infinity) <= backMsMax,
    `an add was accepted after ${firstAddMs} ms, ${late}`,
  )
  check(!isHalfOpen || lostLeases === 0, `${lostLeases} leases were given up`)
  check(isNoticed(name, report.codes), 'the trouble was not noticed')
  check(report.stopped === undefined, `the worker ended: ${report.stopped}`)
  return faults
}
