import assert from 'node:assert/strict'
import { describe, test, vi } from 'vitest'
import { SluiceError } from '../src/errors.ts'
import { fakeClock } from '../src/testing/index.ts'

// What a step does between two timers, when called twice, and when something goes wrong.

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('reactions', () => {
  test('promise continuations run before the next timer fires', async () => {
    const clock = fakeClock(0)
    const log: string[] = []
    for (const ms of [1, 2]) {
      clock.startTimer(ms, () => {
        log.push(`timer ${ms}`)
        void Promise.resolve()
          .then(() => {})
          .then(() => log.push(`reaction ${ms} at ${clock.now()}`))
      })
    }
    await clock.step(5)
    assert.deepEqual(log, ['timer 1', 'reaction 1 at 1', 'timer 2', 'reaction 2 at 2'])
  })

  test('so does what they put off by a turn of the event loop', async () => {
    const clock = fakeClock(0)
    const log: string[] = []
    const react = async () => {
      await Promise.resolve()
      await turn()
      log.push(`reaction at ${clock.now()}`)
    }
    clock.startTimer(1, () => void react())
    clock.startTimer(2, () => log.push('next timer'))
    await clock.step(2)
    assert.deepEqual(log, ['reaction at 1', 'next timer'])
  })

  test('a loop that sleeps on the clock runs all its rounds within one step', async () => {
    const clock = fakeClock(0)
    const sleep = (ms: number) => new Promise<void>((resolve) => clock.startTimer(ms, resolve))
    const rounds: number[] = []
    const loop = async () => {
      for (let round = 0; round < 5; round += 1) {
        await sleep(100)
        rounds.push(clock.now())
      }
    }
    void loop()
    await clock.step(1_000)
    assert.deepEqual(rounds, [100, 200, 300, 400, 500])
  })

  test('what was under way before the step goes on first', async () => {
    const clock = fakeClock(0)
    let firedAt: number | undefined
    const work = async () => {
      await turn()
      clock.startTimer(5, () => {
        firedAt = clock.now()
      })
    }
    void work()
    await clock.step(5)
    assert.equal(firedAt, 5)
  })

  test('settle lets reactions of any length finish', async () => {
    const work: Promise<void>[] = []
    const clock = fakeClock(0, { settle: () => Promise.all(work).then(() => {}) })
    const log: string[] = []
    const slowly = async () => {
      for (let hop = 0; hop < 50; hop += 1) await turn()
      log.push(`done at ${clock.now()}`)
      clock.startTimer(1, () => log.push(`child at ${clock.now()}`))
    }
    clock.startTimer(1, () => work.push(slowly()))
    clock.startTimer(10, () => log.push(`last at ${clock.now()}`))
    await clock.step(10)
    assert.deepEqual(log, ['done at 1', 'child at 2', 'last at 10'])
  })

  test('fake timers of a test runner do not stop it', async () => {
    vi.useFakeTimers({ toFake: ['setImmediate'] })
    try {
      const clock = fakeClock(0)
      let hasFired = false
      clock.startTimer(1, () => {
        hasFired = true
      })
      await clock.step(1)
      assert.equal(hasFired, true)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('several steps', () => {
  test('calls queue up, each starting where the one before it ended', async () => {
    const clock = fakeClock(0)
    const log: string[] = []
    for (const ms of [5, 15, 25]) clock.startTimer(ms, () => log.push(`timer@${clock.now()}`))
    const steps = [10, 10, 10].map((ms, index) =>
      clock.step(ms).then(() => log.push(`step ${index}@${clock.now()}`)),
    )
    assert.equal(clock.now(), 0)
    await Promise.all(steps)
    assert.equal(clock.now(), 30)
    assert.deepEqual(
      log.filter((entry) => entry.startsWith('timer')),
      ['timer@5', 'timer@15', 'timer@25'],
    )
    assert.ok(log.indexOf('step 0@10') < log.indexOf('timer@25'))
  })

  // The original deadlocks here: its callbacks run with the clock locked.
  test('a callback may step, and even await that', async () => {
    const clock = fakeClock(0)
    const log: string[] = []
    let inner: Promise<void> | undefined
    clock.startTimer(1, () => {
      inner = (async () => {
        await clock.step(10)
        log.push(`inner step ended at ${clock.now()}`)
      })()
    })
    clock.startTimer(3, () => log.push(`timer at ${clock.now()}`))
    clock.startTimer(12, () => log.push(`timer at ${clock.now()}`))
    await clock.step(4)
    assert.equal(clock.now(), 4)
    await inner
    assert.deepEqual(log, ['timer at 3', 'timer at 12', 'inner step ended at 14'])
  })
})

describe('trouble', () => {
  test('a step that is none is a typed error and moves nothing', async () => {
    const clock = fakeClock(5)
    clock.startTimer(0, () => assert.fail('moved'))
    for (const bad of [Number.NaN, '1', undefined, null, 5n]) {
      await assert.rejects(clock.step(bad as number), (error) => {
        return error instanceof TypeError && SluiceError.is(error, 'ERR_INVALID_INPUT')
      })
    }
    for (const bad of [-1, -1e-9, Infinity, -Infinity]) {
      await assert.rejects(clock.step(bad), (error) => {
        return error instanceof RangeError && SluiceError.is(error, 'ERR_INVALID_INPUT')
      })
    }
    assert.deepEqual([clock.now(), clock.waiters()], [5, 1])
  })

  test('minus zero is zero', async () => {
    const clock = fakeClock(5)
    await clock.step(-0)
    assert.equal(clock.now(), 5)
  })

  test('a callback that throws stops no other one, and the step rejects with its error', async () => {
    const clock = fakeClock(0)
    const log: string[] = []
    const boom = new Error('boom')
    clock.startTimer(1, () => {
      throw boom
    })
    clock.startTimer(2, () => log.push('fired'))
    await assert.rejects(clock.step(5), (error) => error === boom)
    assert.deepEqual([log, clock.now()], [['fired'], 5])
  })

  test('several that throw are reported together, in order', async () => {
    const clock = fakeClock(0)
    for (const ms of [2, 1, 3]) {
      clock.startTimer(ms, () => {
        throw ms
      })
    }
    await assert.rejects(clock.step(5), (error) => {
      assert.ok(error instanceof AggregateError)
      assert.deepEqual(error.errors, [1, 2, 3])
      return true
    })
  })

  test('even undefined can be thrown', async () => {
    const clock = fakeClock(0)
    clock.startTimer(1, () => {
      throw undefined
    })
    const outcome = await clock.step(1).then(
      () => 'resolved',
      () => 'rejected',
    )
    assert.equal(outcome, 'rejected')
  })

  test('a ticker that throws goes on ticking', async () => {
    const clock = fakeClock(0)
    let ticks = 0
    clock.startTicker(1, () => {
      ticks += 1
      throw new Error(`tick ${ticks}`)
    })
    await assert.rejects(clock.step(3), AggregateError)
    assert.deepEqual([ticks, clock.waiters()], [3, 1])
  })

  test('a step that failed does not keep the next one from running', async () => {
    const clock = fakeClock(0)
    clock.startTimer(1, () => {
      throw new Error('boom')
    })
    const [first, second] = await Promise.allSettled([clock.step(1), clock.step(1)])
    assert.deepEqual([first.status, second.status, clock.now()], ['rejected', 'fulfilled', 2])
  })

  test('a timer that arms itself for now, again and again, is found out', async () => {
    const clock = fakeClock(0)
    const timer = clock.startTimer(1, () => {
      timer.reset(0)
    })
    await assert.rejects(clock.step(5), /without end/)
    assert.equal(clock.now(), 1)
    timer.stop()
    await clock.step(4)
    assert.equal(clock.now(), 5)
  })

  test('a ticker that ticks very often in one step is no such loop', async () => {
    const clock = fakeClock(0)
    let ticks = 0
    clock.startTicker(1, () => {
      ticks += 1
    })
    await clock.step(10_010)
    assert.equal(ticks, 10_010)
  })

  test('many timers at one instant are no such loop', async () => {
    const clock = fakeClock(0)
    let fired = 0
    for (let index = 0; index < 12_000; index += 1) {
      clock.startTimer(1, () => {
        fired += 1
      })
    }
    await clock.step(1)
    assert.equal(fired, 12_000)
  })
})
