import { type Driver, SluiceError } from '@sluice/core'
import type { Chance } from '../histories/chance.ts'
import type { Sometimes } from '../histories/sometimes.ts'

/** How often which fault comes, as probabilities. Absent means never. */
export interface Faults {
  /** The store refuses before it has done anything: `ERR_STORE_BUSY`. */
  readonly refused?: number
  /** The store does it, and the answer is lost on the way: `ERR_UNKNOWN_OUTCOME`. */
  readonly replyLost?: number
  /** The call is lost on the way to the store, which looks the same: `ERR_UNKNOWN_OUTCOME`. */
  readonly callLost?: number
  /** The call, or its answer, takes long. */
  readonly stall?: number
  /** A wake does not arrive. */
  readonly wakeLost?: number
  /** A wake arrives twice. */
  readonly wakeTwice?: number
}

/** What a fault wrapper needs to know besides how often. */
export interface FaultOptions {
  readonly chance: Chance
  readonly sometimes?: Sometimes
  /** Faults come only while this says so. */
  readonly isOn?: () => boolean
  /** How long a stall lasts; by default, many turns of the microtask queue. */
  readonly stall?: () => Promise<void>
}

/** The verbs on which faults come. What only looks is left alone, so that the harness can see. */
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

/** Verbs of which it matters whether they took effect. */
const writing = new Set<string>([...faulted].filter((verb) => verb !== 'tick'))

const stallTurns = 40

async function manyTurns(): Promise<void> {
  for (let i = 0; i < stallTurns; i += 1) await undefined
}

/**
 * A driver around another one that lets things go wrong: calls that are refused, answers that are
 * lost after the store has done its work, calls that take long, wakes that come twice or never.
 *
 * It never lies: what it refuses was not done, and what it does not know it says it does not know.
 */
export function faulty(driver: Driver, faults: Faults, options: FaultOptions): Driver {
  const { chance, sometimes, isOn = () => true, stall = manyTurns } = options
  const happens = (p: number | undefined): boolean => p !== undefined && isOn() && chance.happens(p)
  const unknown = (verb: string): SluiceError =>
    new SluiceError('ERR_UNKNOWN_OUTCOME', `the answer to ${verb} was lost`)

  async function call(verb: string, act: () => unknown): Promise<unknown> {
    if (happens(faults.stall)) {
      sometimes?.saw('a call stalled while others went on')
      await stall()
    }
    if (happens(faults.refused)) {
      sometimes?.saw('a call was refused and had no effect')
      throw new SluiceError('ERR_STORE_BUSY', `${verb} was refused`, { retryable: true })
    }
    if (happens(faults.callLost)) {
      if (writing.has(verb)) sometimes?.saw('an unknown outcome had not taken effect')
      throw unknown(verb)
    }
    const answer = await act()
    if (happens(faults.replyLost)) {
      if (writing.has(verb)) sometimes?.saw('an unknown outcome had taken effect')
      throw unknown(verb)
    }
    if (happens(faults.stall)) await stall()
    return answer
  }

  function watch(onWake: (queue: string | undefined) => void): unknown {
    return driver.watch?.((queue) => {
      if (happens(faults.wakeLost)) {
        sometimes?.saw('a wake was lost')
        return
      }
      onWake(queue)
      if (happens(faults.wakeTwice)) {
        sometimes?.saw('a wake came twice')
        onWake(queue)
      }
    })
  }

  return new Proxy(driver, {
    get(_, name) {
      // The door for drivers in this process would lead around the faults.
      if (name === 'direct') return undefined
      if (name === 'watch' && driver.watch !== undefined) return watch
      const value: unknown = Reflect.get(driver, name, driver)
      if (typeof value !== 'function') return value
      if (typeof name !== 'string' || !faulted.has(name)) return value.bind(driver)
      return (...args: unknown[]) => call(name, () => Reflect.apply(value, driver, args))
    },
  })
}
