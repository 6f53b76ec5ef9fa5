import { needs } from '@sluice/needs'
import { fakeTimeLibrary } from '@sluice/needs/stepped-clock'
import { hasRedis } from '@sluice/test-redis'
import { describe, expect, test } from 'vitest'
import { clockBounds } from '../../support/clock/clock-bounds.ts'
import { cellsOf, type Told } from '../../support/clock/clock-cells.ts'
import { type ClockStore, clockRun } from '../../support/clock/clock-run.ts'

// real time: the clocks of processes and of a server are set. `npm run torture -- clock` has all.
const hour = 3_600_000
const runs: readonly [ClockStore, number][] = [
  ['memory', -hour],
  ['sqlite', hour],
  ['sqlite', -hour],
  ['postgres-client', hour],
  ['postgres-server', hour],
  ['postgres-server', -hour],
]
const runsOnRedis: typeof runs = [
  ['redis-server', hour],
  ['redis-server', -hour],
]

async function expectWithinBounds(store: ClockStore, stepMs: number): Promise<void> {
  const cells = await clockRun(store, stepMs)
  expect(clockBounds(store, stepMs, cells)).toEqual([])
}

describe.skipIf(!needs('libfaketime', fakeTimeLibrary !== undefined))(
  'Time: a step of the clock gives no key to two and keeps none from running',
  () => {
    const options = { timeout: 1_200_000 }
    test.concurrent.each(runs)('%s, %d ms', options, expectWithinBounds)
    describe.skipIf(!hasRedis)('on Redis', () => {
      test.concurrent.each(runsOnRedis)('%s, %d ms', options, expectWithinBounds)
    })
  },
)

describe('what is read from what the processes say', () => {
  const all: readonly Told[] = [
    ...['alive', 'ahead/1', 'dead', 'backoff'].map((key) => start(key, 'die', 0)),
    { what: 'asked', key: 'delayed', who: 'first', at: 100 },
    { what: 'asked', key: 'ready', who: 'first', at: 1_000 },
    ...['ready/1', 'ready/2'].map((key) => start(key, 'second', 1_010)),
  ]

  function start(key: string, who: string, at: number): Told {
    return { what: 'start', key, who, at }
  }

  test('a key that never ran is late without end', () => {
    const cells = cellsOf(all, 500)
    expect(cells.find(({ state }) => state === 'ready')?.lateMs).toBe(10)
    expect(clockBounds('sqlite', 0, cells)).toEqual(
      ['delayed', 'backoff', 'healthy', 'dead', 'ahead'].map(
        (state) => `${state}: Infinity ms late`,
      ),
    )
  })

  test('two at work on one key are seen, and one after the other is none', () => {
    const told = [start('alive', 'first', 1), start('alive', 'second', 2)]
    const cells = cellsOf([...all, ...told], 500)
    expect(clockBounds('memory', 0, cells)).toContain('healthy: 1 times two at work on a key')
    const end: Told = { what: 'end', key: 'ahead/1', who: 'first', at: 2 }
    const fine = cellsOf([start('ahead/1', 'first', 1), end, start('ahead/1', 'second', 3)], 500)
    expect(fine.find(({ state }) => state === 'ahead')?.doubles).toBe(0)
  })
})
