import { type Clock, heartbeatMs, systemClock, type Timer } from '@sluice/core'
import { nextTurn } from '../environment/environment.ts'

/** What an alarm is set by. */
export interface AlarmSetting {
  /** Whether there is anything to look for; if not, the alarm is off. */
  readonly isWanted: boolean
  /** Whether somebody waits, which keeps the process alive. */
  readonly isWaitedFor: boolean
  /** How long until it makes sense to look again; at most a heartbeat is waited. */
  readonly inMs: number
}

/**
 * The one timer of a queue object: it rings when the next key is due or the next lease ends, and
 * every ten seconds in any case, as an insurance against whatever was missed; and while somebody
 * waits it keeps the process alive.
 */
export class Alarm {
  readonly #clock: () => Clock
  readonly #ring: () => void
  readonly #ref: boolean
  readonly #setting: () => AlarmSetting
  #timer: Timer | undefined
  #rangAt: number | undefined
  #isSettingLater = false

  constructor(clock: () => Clock, ref: boolean, setting: () => AlarmSetting, ring: () => void) {
    this.#clock = clock
    this.#ref = ref
    this.#setting = setting
    this.#ring = ring
  }

  /**
   * Sets the alarm anew. With the system's clock that is put off to the next turn of the event loop:
   * keys that come and go within one turn would otherwise pay for a timer each.
   */
  set(): void {
    if (this.#isSettingLater) return
    if (this.#clock() !== systemClock) {
      this.#set()
      return
    }
    this.#isSettingLater = true
    nextTurn(this.#setLater)
  }

  readonly #setLater = (): void => {
    this.#isSettingLater = false
    this.#set()
  }

  #set(): void {
    const { isWanted, isWaitedFor, inMs } = this.#setting()
    if (!isWanted) {
      this.off()
      return
    }
    const ms = this.#atLeast(Math.min(Math.max(0, inMs), heartbeatMs))
    if (this.#timer === undefined) this.#timer = this.#clock().startTimer(ms, this.#onTimer)
    else this.#timer.reset(ms)
    if (this.#ref && isWaitedFor) this.#timer.ref()
    else this.#timer.unref()
  }

  /**
   * How long to wait, at least a millisecond if the alarm has rung at this very instant and was in
   * vain: what is left of the time is less than clocks can tell, and time would never go on.
   */
  #atLeast(ms: number): number {
    if (ms >= 1 || this.#clock().monotonicMs() !== this.#rangAt) return ms
    return ms <= Math.abs(this.#clock().now()) * Number.EPSILON * 4 ? 1 : ms
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined
    this.#rangAt = this.#clock().monotonicMs()
    this.#ring()
  }

  off(): void {
    this.#timer?.stop()
    this.#timer = undefined
  }
}
