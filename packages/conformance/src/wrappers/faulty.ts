import { type Driver, SluiceError } from '@sluice/core'
import type { Chance } from '../histories/chance.ts'
import type { Sometimes } from '../histories/sometimes.ts'

/** The probability of each fault. Absent means never. */
export interface Faults {
  /** The store rejects the call before it has done anything: `ERR_STORE_BUSY`. */
  readonly refused?: number
  /** The call takes effect, and its answer is lost: `ERR_UNKNOWN_OUTCOME`. */
  readonly replyLost?: number
  /** The call is lost before it reaches the store, which looks the same: `ERR_UNKNOWN_OUTCOME`. */
  readonly callLost?: number
  /** The call or its answer is delayed. */
  readonly stall?: number
  /** A wake does not arrive. */
  readonly wakeLost?: number
  /** A wake arrives twice. */
  readonly wakeTwice?: number
}

/** Options of {@link faulty}. */
export interface FaultOptions {
  readonly chance: Chance
  readonly sometimes?: Sometimes | undefined
  /** Faults occur only while this returns true. */
  readonly isOn?: (() => boolean) | undefined
  /** How long a stall lasts; by default, many turns of the microtask queue. */
  readonly stall?: (() => Promise<void>) | undefined
}

/** The verbs that can fail. Verbs that only read never do, so that the harness can look. */
const faulted = new Set<string>([
  'add',
  'cancel',
  'claim',
  'expire',
  'renew',
  'finish',
  'forget',
  'tick',
])

/** Verbs that write, so that it matters whether they took effect. */
const writing = new Set<string>([...faulted].filter((verb) => verb !== 'tick'))

const stallTurns = 40

async function manyTurns(): Promise<void> {
  for (let i = 0; i < stallTurns; i += 1) await undefined
}

/**
 * A driver around another one that injects faults: calls that are rejected, answers that are lost
 * after the store has done its work, calls that stall, wakes that arrive twice or never.
 *
 * Its errors are true: a rejected call had no effect, and an unknown outcome is reported as unknown.
 */
export function faulty(driver: Driver, faults: Faults, options: FaultOptions): Driver {
  const { chance, sometimes, isOn = () => true, stall = manyTurns } = options
  const happens = (p: number | undefined): boolean => p !== undefined && isOn() && chance.happens(p)
  const unknown = (verb: string): SluiceError =>
    new SluiceError('ERR_UNKNOWN_OUTCOME', `the answer to ${verb} was lost`)

  async function call(verb: string, act: () => unknown): Promise<unknown> {
    if (happens(faults.stall)) {
      sometimes?.observe('a call stalled while others went on')
      await stall()
    }
    if (happens(faults.refused)) {
      sometimes?.observe('a call was rejected and had no effect')
      throw new SluiceError('ERR_STORE_BUSY', `${verb} was refused`, { retryable: true })
    }
    if (happens(faults.callLost)) {
      if (writing.has(verb)) sometimes?.observe('an unknown outcome had not taken effect')
      throw unknown(verb)
    }
    const answer = await act()
    if (happens(faults.replyLost)) {
      if (writing.has(verb)) sometimes?.observe('an unknown outcome had taken effect')
      throw unknown(verb)
    }
    if (happens(faults.stall)) await stall()
    return answer
  }

  function watch(onWake: (queue: string | undefined) => void): unknown {
    return driver.watch?.((queue) => {
      if (happens(faults.wakeLost)) {
        sometimes?.observe('a wake was lost')
        return
      }
      onWake(queue)
      if (happens(faults.wakeTwice)) {
        sometimes?.observe('a wake came twice')
        onWake(queue)
      }
    })
  }

  return new Proxy(driver, {
    get(_, name) {
      // Calls through the direct queue would bypass the faults.
      if (name === 'direct') return undefined
      if (name === 'watch' && driver.watch !== undefined) return watch
      const value: unknown = Reflect.get(driver, name, driver)
      if (typeof value !== 'function') return value
      if (typeof name !== 'string' || !faulted.has(name)) return value.bind(driver)
      return (...args: unknown[]) => call(name, () => Reflect.apply(value, driver, args))
    },
  })
}
