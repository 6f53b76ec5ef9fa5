import { SluiceError } from '@sluice/core'
import { expect, test } from 'vitest'
import { Chance } from '../src/histories/chance.ts'
import { Sometimes } from '../src/histories/sometimes.ts'
import { ModelDriver } from '../src/model/model-driver.ts'
import { type Faults, faulty } from '../src/wrappers/faulty.ts'

const ask = { key: 'a', item: undefined, priority: 0, delayMs: 0 }
const options = { dedupe: 'client-go', failuresExpireMs: 1_000 } as const

async function addThrough(faults: Faults): Promise<{ error: unknown; ready: number }> {
  const driver = new ModelDriver()
  const around = faulty(driver, faults, { chance: new Chance(1) })
  const error: unknown = await Promise.resolve(around.add('q', [ask], options)).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { error, ready: driver.counts('q', { cap: 10 }).ready }
}

test('without faults the driver is as it was', async () => {
  expect(await addThrough({})).toEqual({ error: undefined, ready: 1 })
})

test('a rejection is retryable, and had no effect', async () => {
  const { error, ready } = await addThrough({ refused: 1 })
  expect(SluiceError.is(error, 'ERR_STORE_BUSY') && error.retryable).toBe(true)
  expect(ready).toBe(0)
})

test('an answer is lost after the call took effect', async () => {
  const { error, ready } = await addThrough({ replyLost: 1 })
  expect(SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')).toBe(true)
  expect(ready).toBe(1)
})

test('a lost call looks the same, and had no effect', async () => {
  const { error, ready } = await addThrough({ callLost: 1 })
  expect(SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')).toBe(true)
  expect(ready).toBe(0)
})

test('wakes are lost, and come twice', async () => {
  const sometimes = new Sometimes()
  for (const [faults, calls] of [
    [{ wakeLost: 1 }, 0],
    [{ wakeTwice: 1 }, 2],
  ] as const) {
    const around = faulty(new ModelDriver(), faults, { chance: new Chance(1), sometimes })
    let woken = 0
    await around.watch?.(() => {
      woken += 1
    })
    await around.add('q', [ask], options)
    await undefined
    expect(woken).toBe(calls)
  }
  expect(sometimes.missing(['a wake was lost', 'a wake came twice'])).toEqual([])
})

test('events that never occurred are reported', () => {
  expect(new Sometimes().missing(['the clock was set back'])).toEqual(['the clock was set back'])
})

test('the same seed draws the same numbers', () => {
  const [one, other] = [new Chance(42), new Chance(42)]
  const draw = (chance: Chance): number[] => Array.from({ length: 5 }, () => chance.below(1_000))
  expect(draw(one)).toEqual(draw(other))
})
