import { type Clock, heartbeatMs, nextTurn, systemClock, type Timer } from '@sluice/core'

/** When the alarm goes off next. */
export interface AlarmSetting {
  /** Whether the alarm is on at all. */
  readonly isWanted: boolean
  /** Whether a caller waits, which keeps the process alive. */
  readonly isWaitedFor: boolean
  /** How long until the next key is due; the alarm waits a heartbeat at most. */
  readonly inMs: number
}

/**
 * The one alarm of a queue object. It goes off when the next key is due or the next lease expires,
 * and every ten seconds in any case, as an insurance against a missed change. It keeps the process
 * alive while a caller waits.
 */
export class Alarm {
  readonly #clock: () => Clock
  readonly #onAlarm: () => void
  readonly #ref: boolean
  readonly #setting: () => AlarmSetting
  #timer: Timer | undefined
  #wentOffAt: number | undefined
  #isSettingLater = false

  constructor(clock: () => Clock, ref: boolean, setting: () => AlarmSetting, onAlarm: () => void) {
    this.#clock = clock
    this.#ref = ref
    this.#setting = setting
    this.#onAlarm = onAlarm
  }

  /**
   * Sets the alarm. With the system's clock that is deferred to the next turn of the event loop:
   * keys that come and go within one turn would otherwise cost a timer each.
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
   * How long to wait: at least a millisecond if the alarm went off at this very instant and no key
   * was due, since the rest is shorter than the clock's resolution and would elapse at once, for
   * ever.
   */
  #atLeast(ms: number): number {
    if (ms >= 1 || this.#clock().monotonicMs() !== this.#wentOffAt) return ms
    return ms <= Math.abs(this.#clock().now()) * Number.EPSILON * 4 ? 1 : ms
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined
    this.#wentOffAt = this.#clock().monotonicMs()
    this.#onAlarm()
  }

  off(): void {
    this.#timer?.stop()
    this.#timer = undefined
  }
}
