import {
  type AskOptions,
  type ClaimReply,
  type Driver,
  type Finish,
  type FinishReply,
  type KeyRow,
  type ListReply,
  never,
  type TickReply,
} from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test } from 'vitest'
import { memoryDriver } from '../src/index.ts'
import { blankClaim } from './blank-claim.ts'

const options: AskOptions = { dedupe: 'client-go', failuresExpireMs: 86_400_000 }
const keyOf = (at: number): string => `key-${String(at).padStart(5, '0')}`

function rowsOf(driver: Driver): Map<string, KeyRow> {
  const { rows } = driver.list('q', { limit: 100_000 }) as ListReply
  return new Map(rows.map((row) => [row.key, row]))
}

// Around every size at which an array of the driver is replaced by a longer one.
const sizes = [1, 13, 14, 15, 16, 17, 31, 32, 33, 60, 61, 62, 63, 64, 65, 127, 4_095, 4_097, 9_000]

describe.each(sizes)('with %d keys', (size) => {
  test('purge removes every key', () => {
    const driver = memoryDriver()
    void driver.open({ clock: fakeClock() })
    for (let round = 0; round < 2; round += 1) {
      for (let at = 0; at < size; at += 1) {
        void driver.add('q', [{ key: keyOf(at), item: '1', priority: 0, delayMs: 0 }], options)
      }
      expect(driver.operate!.purge('q')).toBe(size)
      expect(rowsOf(driver).size).toBe(0)
    }
  })

  test('every key can be held at a time, and finished', () => {
    const driver = memoryDriver()
    void driver.open({ clock: fakeClock() })
    const direct = driver.direct!('q')!
    for (let at = 0; at < size; at += 1) direct.add(keyOf(at), undefined, 0, options)
    const claims = Array.from({ length: size }, () => {
      const into = blankClaim()
      expect(direct.claim(into, 'h', never)).toBe(true)
      return into
    })
    expect(claims.map(({ key }) => key)).toEqual(Array.from({ length: size }, (_, at) => keyOf(at)))
    for (const { handle, token } of claims) expect(direct.done(handle, token, false)).toBe('idle')
    expect(rowsOf(driver).size).toBe(0)
  })

  test('every key keeps what is stored of it while the others arrive', async () => {
    const clock = fakeClock()
    const driver = memoryDriver()
    void driver.open({ clock })
    const error = (key: string): string => JSON.stringify({ message: key })
    const leaseMs = (at: number): number => 1_000 + ((at * 7) % size)
    for (let at = 0; at < size; at += 1) {
      const key = keyOf(at)
      const ask = { key, item: JSON.stringify(at), priority: at % 40, delayMs: 0 }
      void driver.add('q', [ask], options)
      const request = { limit: 1, holder: key, claimId: 'c', leaseMs: leaseMs(at) }
      const [claim] = (driver.claim('q', request) as ClaimReply).claims
      expect(claim).toMatchObject({ key, item: JSON.stringify(at), priority: at % 40 })
      const { token } = claim!
      let finish: Finish | undefined
      if (at % 4 === 0) finish = { as: 'retry', key, token, delayMs: 5_000 + at, error: error(key) }
      else if (at % 4 === 1) finish = { as: 'park', key, token, error: error(key) }
      else if (at % 4 === 2) finish = { as: 'release', key, token }
      if (finish !== undefined) void driver.finish('q', [finish], options)
      // A second promise; a key that is ready is held for it, and then delayed for another time.
      void driver.add('q', [{ ...ask, delayMs: 2_000 + at }], options)
      if (at % 4 !== 2) continue
      const again = (driver.claim('q', { ...request, leaseMs: never }) as ClaimReply).claims
      expect(again).toMatchObject([{ key }])
    }
    const rows = rowsOf(driver)
    expect(rows.size).toBe(size)
    for (let at = 0; at < size; at += 1) {
      const key = keyOf(at)
      const isHeld = at % 4 >= 2
      const state = isHeld ? 'processing' : at % 4 === 1 ? 'parked' : 'delayed'
      const expected: Partial<KeyRow> = {
        state,
        item: JSON.stringify(at),
        holder: isHeld ? key : undefined,
        lastError: at % 4 < 2 ? error(key) : undefined,
        failures: at % 4 < 2 ? 1 : 0,
      }
      expect(rows.get(key), key).toMatchObject(expected)
    }
    const ends = new Map<string, number>()
    for (let at = 3; at < size; at += 4) ends.set(keyOf(at), leaseMs(at))
    await clock.step(1_000 + size)
    const request = { holder: 'h', limit: size + 1, failuresExpireMs: never }
    const { leaseEnds } = driver.tick('q', request) as TickReply
    expect(leaseEnds.map(({ key }) => key).sort()).toEqual([...ends.keys()])
    // Keys that are held until the end are given back by their tokens, in any slot.
    for (let at = 2; at < size; at += 4) {
      const { key, token } = rows.get(keyOf(at))!
      const finish = { as: 'done', key, token, forget: true } as const
      const [reply] = driver.finish('q', [finish], options) as FinishReply[]
      expect(reply!.outcome, key).not.toBe('lost')
    }
  })
})
