import { SluiceError } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { RetryGate } from '../../src/driver/retry-gate.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { seen } from '../support/setups.ts'

const away = new SluiceError('ERR_STORE', 'away', { retryable: true })
const user = { closedError: () => new SluiceError('ERR_CLOSED', 'closed') }

/** A store that fails until it is well, and is attempted again after each failure. */
class Outage {
  readonly gate = new RetryGate()
  error: Error | undefined = away
  attempts = 0
  successes = 0

  send(): Promise<void> {
    this.attempts += 1
    return this.error === undefined ? Promise.resolve() : Promise.reject(this.error)
  }

  async persist(): Promise<void> {
    for (;;) {
      try {
        await this.gate.attempt(user, () => this.send())
        this.successes += 1
        return
      } catch (error) {
        if (SluiceError.is(error, 'ERR_CLOSED')) return
      }
    }
  }
}

describe('the gate of a store', () => {
  test('while the store is well, attempts are made at once, also synchronous ones', () => {
    const gate = new RetryGate()
    expect(gate.attempt(user, () => 7)).toBe(7)
    expect(gate.isClosed).toBe(false)
  })

  test.each([1, 20, 1_000])('%i attempts share two a second while it is away', async (count) => {
    const time = fakeRealTime()
    const outage = new Outage()
    for (let at = 0; at < count; at += 1) void outage.persist()
    await time.pass(60_000)
    // All were under way before the first failure was known.
    expect(outage.attempts - count).toBeLessThanOrEqual(120)
    expect(outage.attempts - count).toBeGreaterThanOrEqual(40)
    outage.error = undefined
    await time.pass(2_000)
    expect(outage.successes).toBe(count)
    expect(outage.gate.isClosed).toBe(false)
    expect(time.timers()).toBe(0)
  })

  test.each([1_000, 600_000])('after %i ms everything continues within 2 s', async (outageMs) => {
    const time = fakeRealTime()
    const outage = new Outage()
    for (let at = 0; at < 50; at += 1) void outage.persist()
    await time.pass(outageMs)
    outage.error = undefined
    await time.pass(1_550)
    expect(outage.successes).toBe(50)
  })

  test('an attempt without an answer keeps the others waiting for 1.5 s', async () => {
    const time = fakeRealTime()
    const { gate } = new Outage()
    let silent = 0
    const hang = (): Promise<never> => {
      silent += 1
      return new Promise(() => undefined)
    }
    await gate.attempt(user, () => Promise.reject(away)).catch(() => undefined)
    for (let at = 0; at < 10; at += 1) void gate.attempt(user, hang)
    await time.pass(6_000)
    expect(silent).toBeGreaterThanOrEqual(4)
    expect(silent).toBeLessThanOrEqual(5)
  })

  test('where only some attempts succeed, those that fail stay below two a second', async () => {
    const time = fakeRealTime()
    const gate = new RetryGate()
    let failed = 0
    let isOver = false
    const writer = async (): Promise<void> => {
      while (!isOver) {
        await gate
          .attempt(user, () => {
            failed += 1
            return Promise.reject(away)
          })
          .catch(() => undefined)
      }
    }
    void writer()
    void writer()
    for (let ms = 0; ms < 60_000; ms += 100) {
      void gate.attempt(user, () => Promise.resolve())
      gate.answered()
      await time.pass(100)
    }
    // Two at once before the first failure is known, and two a second for 60 s.
    expect(failed).toBeLessThanOrEqual(122)
    isOver = true
    await time.pass(5_000)
    // The last ones, which were in line.
    expect(failed).toBeLessThanOrEqual(124)
  })

  test('a call that is answered shortens the pause', async () => {
    const time = fakeRealTime()
    const outage = new Outage()
    void outage.persist()
    await time.pass(30_000)
    const { attempts } = outage
    while (outage.attempts === attempts) await time.pass(50)
    await time.pass(500)
    outage.error = undefined
    outage.gate.answered()
    await time.pass(50)
    expect(outage.successes).toBe(1)
  })

  test('a call that is answered ends the wait for an attempt that is silent', async () => {
    const time = fakeRealTime()
    const { gate } = new Outage()
    await gate.attempt(user, () => Promise.reject(away)).catch(() => undefined)
    void gate.attempt(user, () => new Promise(() => undefined))
    const other = seen(Promise.resolve(gate.attempt(user, () => Promise.resolve('made'))))
    await time.pass(550)
    expect(other.state).toBe('waiting')
    // Half a second after the silent one was made, which the first pause has put off by 250 ms at least.
    gate.answered()
    await time.pass(150)
    expect(other.state).toBe('waiting')
    await time.pass(350)
    expect(other.value).toBe('made')
  })

  test('the pause after an attempt begins with it: one that was silent is repeated at once', async () => {
    const time = fakeRealTime()
    const outage = new Outage()
    const { gate } = outage
    void outage.persist()
    await time.pass(30_000)
    outage.error = undefined
    const silent = time.after(10_000).then(() => Promise.reject(away))
    await time.pass(2_000)
    expect(outage.successes).toBe(1)
    const hung = seen(Promise.resolve(gate.attempt(user, () => silent)))
    await time.pass(8_050)
    expect(hung.state).toBe('rejected')
    void outage.persist()
    await time.pass(50)
    expect(outage.successes).toBe(2)
  })

  test('an attempt that was silent and fails after another call was answered costs half a second', async () => {
    const time = fakeRealTime()
    const outage = new Outage()
    const { gate } = outage
    void outage.persist()
    await time.pass(30_000)
    outage.error = undefined
    await time.pass(1_550)
    expect(outage.successes).toBe(1)
    const silent = time.after(2_000).then(() => Promise.reject(away))
    void seen(Promise.resolve(gate.attempt(user, () => silent)))
    await time.pass(1_900)
    void gate.attempt(user, () => undefined)
    gate.answered()
    await time.pass(100)
    expect(gate.isClosed).toBe(true)
    void outage.persist()
    await time.pass(450)
    expect(outage.successes).toBe(2)
  })

  test('a turn that is not used goes to the next in line', async () => {
    const time = fakeRealTime()
    const { gate } = new Outage()
    await gate.attempt(user, () => Promise.reject(away)).catch(() => undefined)
    void gate.turn(user)?.then(gate.pass)
    const next = seen(Promise.resolve(gate.attempt(user, () => Promise.resolve('made'))))
    await time.pass(550)
    expect(next.value).toBe('made')
    expect(gate.isClosed).toBe(false)
  })

  test('a turn that is not used while no other attempt waits goes to the next one', async () => {
    const time = fakeRealTime()
    const { gate } = new Outage()
    await gate.attempt(user, () => Promise.reject(away)).catch(() => undefined)
    await time.pass(550)
    expect(gate.turn(user)).toBe(undefined)
    gate.pass()
    expect(gate.turn(user)).toBe(undefined)
    const turn = seen(gate.turn(user) ?? Promise.resolve())
    gate.leave(user)
    await time.pass(2_000)
    expect(turn.state).toBe('rejected')
  })

  test('waiting attempts reject when their queue is closed, and nothing is left', async () => {
    const time = fakeRealTime()
    const { gate } = new Outage()
    await gate.attempt(user, () => Promise.reject(away)).catch(() => undefined)
    const other = { closedError: () => new Error('other') }
    const waits = [
      seen(Promise.resolve(gate.attempt(user, () => 1))),
      seen(Promise.resolve(gate.attempt(other, () => 2))),
    ]
    gate.leave(user)
    await time.pass(1_000)
    expect(waits.map(({ state }) => state)).toEqual(['rejected', 'resolved'])
    expect(time.timers()).toBe(0)
  })

  test('the pause keeps the process alive only while an attempt that does so waits', async () => {
    const { gate } = new Outage()
    const other = { closedError: () => new Error('other') }
    // Timers that are unref'd are not among them.
    const living = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    await gate.attempt(user, () => Promise.reject(away)).catch(() => undefined)
    const without = living()
    for (const of of [user, other]) void seen(Promise.resolve(gate.attempt(of, () => 1)))
    void seen(Promise.resolve(gate.attempt(other, () => 2, false)))
    expect(living()).toBe(without + 1)
    gate.leave(user)
    expect(living()).toBe(without + 1)
    gate.leave(other)
    expect(living()).toBe(without)
  })

  test('an error that no repetition changes does not close it', async () => {
    const gate = new RetryGate()
    const damaged = new SluiceError('ERR_STORE_DAMAGED', 'damaged')
    await gate.attempt(user, () => Promise.reject(damaged)).catch(() => undefined)
    expect(gate.isClosed).toBe(false)
  })
})
