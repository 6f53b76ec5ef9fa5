import type { AddOutcome, CancelOutcome, FinishOutcome, ForgetOutcome } from '@sluice/core'

// Promises of the outcomes, made once: a promise is immutable, and making one per call is a third
// of what an add in memory costs.

/** Resolved promises of what an add can answer, but for `full`, which is an error to users. */
export const addOutcomes: Readonly<Record<AddOutcome, Promise<AddOutcome>>> = {
  added: Promise.resolve('added'),
  moved: Promise.resolve('moved'),
  unchanged: Promise.resolve('unchanged'),
  parked: Promise.resolve('parked'),
  full: Promise.resolve('full'),
}

/** Resolved promises of what finishing can answer. */
export const finishOutcomes: Readonly<Record<FinishOutcome, Promise<FinishOutcome>>> = {
  idle: Promise.resolve('idle'),
  ready: Promise.resolve('ready'),
  delayed: Promise.resolve('delayed'),
  parked: Promise.resolve('parked'),
  lost: Promise.resolve('lost'),
}

/** Resolved promises of what forgetting can answer. */
export const forgetOutcomes: Readonly<Record<ForgetOutcome, Promise<ForgetOutcome>>> = {
  forgotten: Promise.resolve('forgotten'),
  unchanged: Promise.resolve('unchanged'),
}

/** Resolved promises of what cancelling can answer. */
export const cancelOutcomes: Readonly<Record<CancelOutcome, Promise<CancelOutcome>>> = {
  cancelled: Promise.resolve('cancelled'),
  unchanged: Promise.resolve('unchanged'),
}
