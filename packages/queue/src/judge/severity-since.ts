import { checkFunction, checkObject, type EpochMs, type HistoryStep } from '@sluice/core'
import type { HistoryRange, Inspect, QueueHistory } from '../inspect/inspect.ts'
import { isBehind, isFailing, type QueueSigns, type Severity, thresholds } from './judge-queue.ts'
import { readAnswer, type WorkRates, workRates } from './work-rates.ts'

/** Since when a queue has been in a state, as far as that is known. */
export interface SeveritySince {
  readonly at: EpochMs
  /** How inexact that is. */
  readonly withinMs: number
  /** True if the state may have begun earlier: nothing older is known. */
  readonly orEarlier: boolean
}

/** Workers report every 10 s. A state is taken as lasting between reports that are no further apart. */
const apartMs = 30_000

/** The window of the rates by which a queue is judged. */
const windowMs = 60_000

const ranges: readonly HistoryRange[] = ['5m', '1h', '24h']

/** Tells from steps whether a queue was in a state. */
interface Sign {
  /** Whether it was at the end of the last step; `undefined` if that is unknown. */
  readonly was: (steps: readonly HistoryStep[], stepMs: number) => boolean | undefined
  /** For how long before that work is counted. */
  readonly countedMs: number
}

function endOf(steps: readonly HistoryStep[], stepMs: number): EpochMs {
  return (steps.at(-1)?.at ?? 0) + stepMs
}

/** A count of the minute that ended with the last step, or of that step if it is longer. */
function lately(steps: readonly HistoryStep[], stepMs: number) {
  const since = endOf(steps, stepMs) - Math.max(windowMs, stepMs)
  const recent = steps.filter(({ at }) => at >= since)
  return (name: 'done' | 'failed' | 'expired'): number =>
    recent.reduce((sum, step) => sum + step[name], 0)
}

function failureRates(steps: readonly HistoryStep[], stepMs: number): WorkRates {
  const count = lately(steps, stepMs)
  const ended = count('done') + count('failed')
  if (ended === 0) return {}
  const seconds = Math.max(windowMs, stepMs) / 1_000
  return { errorRatio: count('failed') / ended, outPerSecond: ended / seconds }
}

function wasBehind(steps: readonly HistoryStep[], stepMs: number): boolean | undefined {
  // Longer steps do not tell how fast keys were added.
  if (stepMs >= windowMs) return undefined
  const rates = workRates({ now: endOf(steps, stepMs), stepMs, steps })
  if (rates.agingPerSecond === undefined) return undefined
  return isBehind(steps.at(-1)?.depth.ready ?? 0, rates)
}

const states: Readonly<Partial<Record<Severity, Sign>>> = {
  paused: { was: (steps) => steps.at(-1)?.depth.paused, countedMs: 0 },
  parked: { was: (steps) => (steps.at(-1)?.depth.parked ?? 0) > 0, countedMs: 0 },
  failing: {
    was: (steps, stepMs) => isFailing(failureRates(steps, stepMs)),
    countedMs: windowMs,
  },
  'leases lost': {
    was: (steps, stepMs) => lately(steps, stepMs)('expired') > 0,
    countedMs: windowMs,
  },
  'falling behind': { was: wasBehind, countedMs: 0 },
}

/**
 * Since when a queue has been in the state that {@link judgeQueue} found, from what its workers have
 * recorded; `undefined` if that tells nothing. Reads the history as far back as it takes.
 */
export async function severitySince(
  severity: Severity,
  signs: Omit<QueueSigns, 'history'>,
  inspect: Pick<Inspect, 'history'>,
): Promise<SeveritySince | undefined> {
  const { now, oldestReadyAt, seenAt } = readAnswer('signs', () => ({
    now: signs.now,
    oldestReadyAt: signs.counts.oldestReadyAt,
    seenAt: signs.workers?.filter(({ concurrency }) => concurrency > 0).map((row) => row.seenAt),
  }))
  checkFunction('inspect.history', checkObject('inspect', inspect).history)
  if (severity === 'waiting long') {
    if (oldestReadyAt === undefined) return undefined
    return { at: oldestReadyAt + thresholds.waitingLongMs, withinMs: 0, orEarlier: false }
  }
  if (severity === 'no workers') return await lastSeen(seenAt ?? [], inspect)
  const sign = states[severity]
  if (sign === undefined) return undefined
  let since: SeveritySince = { at: now, withinMs: 0, orEarlier: true }
  for (const range of ranges) {
    const walked = goBack(await inspect.history({ range }), sign, since.at)
    if (walked.at < since.at || !walked.orEarlier) since = walked
    if (!walked.reachedFirst) break
  }
  const { at, withinMs, orEarlier } = since
  return at === now && orEarlier ? undefined : { at, withinMs, orEarlier }
}

interface Walked extends SeveritySince {
  /** Whether the queue was in the state at every step that tells. */
  readonly reachedFirst: boolean
}

/** Goes back from an instant at which a queue was in a state, as far as it was in it before. */
function goBack({ stepMs, steps }: QueueHistory, sign: Sign, until: EpochMs): Walked {
  const over = steps.filter(({ at }) => at + stepMs <= until)
  let since = until
  for (let last = over.length - 1; last >= 0; last -= 1) {
    const end = (over[last]?.at ?? 0) + stepMs
    const wasSo =
      since - end > Math.max(apartMs, stepMs)
        ? undefined
        : sign.was(over.slice(0, last + 1), stepMs)
    if (wasSo !== true) {
      // Of a minute that began before the first step, some work is not counted here.
      const isPartial = wasSo === false && end - sign.countedMs < (over[0]?.at ?? 0)
      const isKnown = wasSo === false && !isPartial
      // It began between the end of this step and the state that was found after it.
      return {
        at: wasSo === false && since === until ? end : since,
        withinMs: Math.max(stepMs, isKnown ? since - end : 0),
        orEarlier: !isKnown,
        reachedFirst: isPartial,
      }
    }
    since = end - stepMs
  }
  return { at: since, withinMs: stepMs, orEarlier: true, reachedFirst: true }
}

/** When a worker of the queue was seen last: those on the list, or the latest that was recorded. */
async function lastSeen(
  seenAt: readonly EpochMs[],
  inspect: Pick<Inspect, 'history'>,
): Promise<SeveritySince | undefined> {
  if (seenAt.length > 0) return { at: Math.max(...seenAt), withinMs: 0, orEarlier: false }
  for (const range of ranges) {
    const { steps, stepMs } = await inspect.history({ range })
    const last = steps.at(-1)
    if (last !== undefined) return { at: last.at, withinMs: stepMs, orEarlier: false }
  }
  return undefined
}
