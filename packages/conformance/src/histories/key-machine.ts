import { type EpochMs, emptyKeyState, type KeyState, noToken } from '@sluice/core'
import { transitions } from '@sluice/core/driver'
import type { Sequential } from './linearizable.ts'
import type { Action, Operation } from './operation.ts'

/** The state of one key if calls come one after another. */
interface KeyNow {
  readonly state: KeyState
  readonly item: string | undefined
  /** The greatest token of the key so far. */
  readonly lastToken: number
}

/** Idle failures do not expire during a history. */
const failuresExpireMs = Infinity

/**
 * A claim whose answer was lost leaves an unknown token. It is the first token that appears later
 * and is greater than every token before.
 */
const unknownToken = -1

function isNear(a: number, b: number): boolean {
  return a === b || Math.abs(a - b) < 0.001
}

function applied(before: KeyNow, action: Action, now: EpochMs): KeyNow | undefined {
  const state = { ...before.state }
  const { item } = before
  let { lastToken } = before
  const learn = (token: number): void => {
    if (state.token !== unknownToken || token <= lastToken) return
    state.token = token
    lastToken = token
  }
  // A key without a row has no history.
  const kept = (): KeyNow => ({
    state: transitions.isGone(state) ? emptyKeyState() : state,
    item,
    lastToken,
  })
  switch (action.verb) {
    case 'add': {
      const { ask, dedupe, answer } = action
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
      const { answer } = action
      if (answer !== undefined) {
        const isAsItWas =
          action.isAdopted === true ||
          (answer.item === item &&
            answer.failures === state.failures &&
            answer.crashes === state.crashes)
        if (!isAsItWas || answer.token <= lastToken) return undefined
      }
      const token = answer?.token ?? unknownToken
      transitions.claim(state, token, now + action.leaseMs, now, 0)
      return { state, item, lastToken: Math.max(lastToken, token) }
    }
    case 'finish': {
      const { finish, dedupe, answer } = action
      learn(finish.token)
      const outcome = finished(state, finish, dedupe, now)
      return answer === undefined || answer.outcome === outcome ? kept() : undefined
    }
    case 'renew': {
      const { answer } = action
      learn(action.token)
      const outcome = transitions.renew(state, action.token, now + action.leaseMs)
      return answer === undefined || answer.outcome === outcome ? kept() : undefined
    }
    case 'expire': {
      const { token, dedupe, answer } = action
      learn(token)
      const outcome = transitions.expire(state, token, 0, Infinity, dedupe, now, 0)
      return answer === undefined || answer === outcome ? kept() : undefined
    }
    case 'forget':
    case 'cancel': {
      const outcome = transitions[action.verb](state)
      return action.answer === undefined || action.answer === outcome ? kept() : undefined
    }
  }
}

function finished(
  state: KeyState,
  finish: Extract<Action, { verb: 'finish' }>['finish'],
  dedupe: 'client-go' | 'earliest',
  now: EpochMs,
): string {
  const { token } = finish
  switch (finish.as) {
    case 'done':
      return finish.again === undefined
        ? transitions.done(state, token, finish.forget, now, 0)
        : transitions.doneAgain(state, token, finish.forget, finish.again, dedupe, now, 0)
    case 'retry':
      return transitions.retry(state, token, finish.delayMs, dedupe, now, 0, finish.priority)
    case 'release':
      return transitions.release(state, token, dedupe, now, 0)
    case 'park':
      return transitions.parkHeld(state, token, finish.error !== undefined, dedupe, now, 0)
  }
}

/** The sequential specification of one key, for the checker of histories. */
export const keyMachine: Sequential<KeyNow, Operation> = {
  initial: { state: emptyKeyState(), item: undefined, lastToken: noToken },
  apply: (state, { action, now }) => applied(state, action, now),
  nameOf: ({ state, item, lastToken }) =>
    `${Object.values(state).join(' ')} ${item ?? ''} ${lastToken}`,
}
