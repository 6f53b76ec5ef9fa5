import type { Chance } from '@sluice/conformance'
import { type Clock, type Driver, SluiceError } from '@sluice/core'

/** How often which trouble comes, as probabilities; all of it can be switched off. */
export interface Trouble {
  /** Refused before anything was done. */
  refused: number
  /** Lost before or after it took effect; the caller cannot tell which. */
  lost: number
  /** Late, before or after it took effect. */
  late: number
  /** How late at most, in milliseconds of the clock. */
  lateMs: number
}

/** A store that is well. */
export const noTrouble: Trouble = { refused: 0, lost: 0, late: 0, lateMs: 0 }

/** What a call of a driver that is in trouble can meet. */
export type TroubleSight =
  | 'refused'
  | 'call lost'
  | 'answer lost'
  | 'late call'
  | 'late answer'
  | 'a lease expired'

const troubled: ReadonlySet<string> = new Set([
  ...['open', 'add', 'cancel', 'claim', 'adopt', 'expire', 'renew', 'finish', 'forget', 'tick'],
  ...['counts', 'list'],
])

const refusals = ['ERR_STORE', 'ERR_STORE_BUSY', 'ERR_STORE_FULL'] as const

/** One process's way to a store that it shares with others: opening and closing are its own. */
export function troubledDriver(
  inner: Driver,
  clock: Clock,
  trouble: Trouble,
  chance: Chance,
  saw: (sight: TroubleSight) => void,
): Driver {
  const late = async (sight: TroubleSight): Promise<void> => {
    if (!chance.happens(trouble.late)) return
    saw(sight)
    const ms = chance.next() * trouble.lateMs
    await new Promise<void>((resolve) => {
      clock.startTimer(ms, resolve)
    })
  }

  const call = async (verb: string, act: () => unknown): Promise<unknown> => {
    await undefined
    await late('late call')
    if (chance.happens(trouble.refused)) {
      saw('refused')
      throw new SluiceError(chance.pick(refusals), `${verb} was refused`, { retryable: true })
    }
    if (verb !== 'open' && chance.happens(trouble.lost / 2)) {
      saw('call lost')
      throw new SluiceError('ERR_UNKNOWN_OUTCOME', `${verb} was lost`)
    }
    const answer = await act()
    if (verb === 'expire' && (answer as readonly unknown[]).includes('expired')) {
      saw('a lease expired')
    }
    if (verb !== 'open' && chance.happens(trouble.lost / 2)) {
      saw('answer lost')
      throw new SluiceError('ERR_UNKNOWN_OUTCOME', `the answer to ${verb} was lost`)
    }
    await late('late answer')
    return answer
  }

  return new Proxy(inner, {
    get(_, name) {
      if (name === 'direct') return undefined
      if (name === 'open') return () => call('open', () => undefined)
      if (name === 'close') return () => undefined
      const value: unknown = Reflect.get(inner, name, inner)
      if (typeof value !== 'function') return value
      if (typeof name !== 'string' || !troubled.has(name)) return value.bind(inner)
      return (...args: unknown[]) => call(name, () => Reflect.apply(value, inner, args))
    },
  })
}
