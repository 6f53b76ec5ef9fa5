import { type EpochMs, emptyKeyState, type KeyState, noToken, transitions } from '@sluice/core'
import type { Sequential } from './linearizable.ts'
import type { Deed, Operation } from './operation.ts'

/** One key, as the contract has it when calls come one after another. */
interface KeyNow {
  readonly state: KeyState
  readonly item: string | undefined
  /** The greatest token that the key has had. */
  readonly lastToken: number
}

/** Idle failures do not expire during a history. */
const failuresExpireMs = Infinity

/**
 * A claim whose answer was lost leaves a token that nobody knows. The first one that comes up and
 * is greater than every one before is it.
 */
const unknownToken = -1

function isNear(a: number, b: number): boolean {
  return a === b || Math.abs(a - b) < 0.001
}

function applied(before: KeyNow, deed: Deed, now: EpochMs): KeyNow | undefined {
  const state = { ...before.state }
  const { item } = before
  let { lastToken } = before
  const learn = (token: number): void => {
    if (state.token !== unknownToken || token <= lastToken) return
    state.token = token
    lastToken = token
  }
  // A key that nothing is stored of has no history.
  const kept = (): KeyNow => ({
    state: transitions.isGone(state) ? emptyKeyState() : state,
    item,
    lastToken,
  })
  switch (deed.verb) {
    case 'add': {
      const { ask, dedupe, answer } = deed
      const options = { dedupe, failuresExpireMs }
      const outcome = transitions.ask(state, ask, ask.delayMs, options, now, 0)
      const isTrue =
        answer === undefined ||
        (answer.outcome === outcome &&
          isNear(answer.dueAt, state.dueAt) &&
          answer.failures === state.failures)
      return isTrue ? { state, item: ask.item, lastToken } : undefined
    }
    case 'claim': {
      if (!transitions.isClaimable(state, now)) return undefined
      const { answer } = deed
      if (answer !== undefined) {
        const isAsItWas =
          deed.isAdopted === true ||
          (answer.item === item &&
            answer.failures === state.failures &&
            answer.crashes === state.crashes)
        if (!isAsItWas || answer.token <= lastToken) return undefined
      }
      const token = answer?.token ?? unknownToken
      transitions.claim(state, token, now + deed.leaseMs, now, 0)
      return { state, item, lastToken: Math.max(lastToken, token) }
    }
    case 'finish': {
      const { finish, dedupe, answer } = deed
      learn(finish.token)
      const outcome = finished(state, finish, dedupe, now)
      return answer === undefined || answer.outcome === outcome ? kept() : undefined
    }
    case 'renew': {
      const { answer } = deed
      learn(deed.token)
      const outcome = transitions.renew(state, deed.token, now + deed.leaseMs)
      return answer === undefined || answer.outcome === outcome ? kept() : undefined
    }
    case 'expire': {
      const { token, dedupe, answer } = deed
      learn(token)
      const outcome = transitions.expire(state, token, 0, Infinity, dedupe, now, 0)
      return answer === undefined || answer === outcome ? kept() : undefined
    }
    case 'forget':
    case 'cancel': {
      const outcome = transitions[deed.verb](state)
      return deed.answer === undefined || deed.answer === outcome ? kept() : undefined
    }
  }
}

function finished(
  state: KeyState,
  finish: Extract<Deed, { verb: 'finish' }>['finish'],
  dedupe: 'client-go' | 'earliest',
  now: EpochMs,
): string {
  const { token } = finish
  switch (finish.as) {
    case 'done':
      return transitions.done(state, token, finish.forget, now, 0)
    case 'retry':
      return transitions.retry(state, token, finish.delayMs, dedupe, now, 0)
    case 'release':
      return transitions.release(state, token, dedupe, now, 0)
    case 'park':
      return transitions.parkHeld(state, token, finish.error !== undefined, dedupe, now, 0)
  }
}

/** The life of one key, for the checker of histories. */
export const keyMachine: Sequential<KeyNow, Operation> = {
  initial: { state: emptyKeyState(), item: undefined, lastToken: noToken },
  apply: (state, { deed, now }) => applied(state, deed, now),
  nameOf: ({ state, item, lastToken }) =>
    `${Object.values(state).join(' ')} ${item ?? ''} ${lastToken}`,
}
