import {
  bucketsOf,
  type EpochMs,
  type LimiterPlan,
  perKeyDelay,
  planDelay,
  reserveToken,
} from '@sluice/core'
import type { ModelStore } from './model-store.ts'

/** The delay of a plan, and the tokens to take from buckets if the delay is used. */
export interface Planned {
  readonly delayMs: number
  charge(): void
}

/** Computes the delay of a plan, without taking tokens yet. */
export function planned(
  store: ModelStore,
  plan: LimiterPlan | undefined,
  failures: number,
  jitter: number | undefined,
  now: EpochMs,
): Planned | undefined {
  if (plan === undefined) return undefined
  const delays = new Map<string, number>()
  const charges: (() => void)[] = []
  for (const { name, perSecond, burst } of bucketsOf(plan)) {
    const row = store.buckets.get(name)
    const before = row === undefined ? undefined : { tokens: row.tokens, lastMs: row.at }
    const { delayMs, state } = reserveToken(before, { perSecond, burst }, now)
    delays.set(name, delayMs)
    if (state === undefined) continue
    const { tokens, lastMs: at } = state
    charges.push(() => store.buckets.set(name, { name, perSecond, burst, tokens, at }))
  }
  return {
    delayMs: planDelay(plan, failures, delays, jitter ?? 0),
    charge() {
      for (const charge of charges) charge()
    },
  }
}

/** The delay of the per-key part of a plan. */
export function perKeyPart(
  plan: LimiterPlan | undefined,
  failures: number,
  jitter: number | undefined,
): number {
  return plan === undefined ? 0 : perKeyDelay(plan, failures, jitter ?? 0)
}
