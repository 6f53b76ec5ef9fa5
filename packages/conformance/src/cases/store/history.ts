import assert from 'node:assert/strict'
import type {
  CodeCounts,
  Depth,
  FailedRun,
  HistoryStep,
  TickReply,
  WorkCounts,
  WorkerInfo,
  WorkRecord,
} from '@sluice/core'
import { systemClock } from '@sluice/core'
import {
  failedRunsMax,
  failedRunsMsMax,
  failedRunsOfCodeMax,
  historyCodesMax,
  historyDepthCap,
  historyResolutions,
} from '@sluice/core/driver'
import type { Case } from '../../case.ts'
import { realTime } from '../../scene/real-time.ts'
import type { Scene } from '../../scene/scene.ts'

const [fine, middle, coarse] = historyResolutions as readonly [
  (typeof historyResolutions)[number],
  (typeof historyResolutions)[number],
  (typeof historyResolutions)[number],
]

const nothing: WorkRecord = {
  started: 0,
  done: 0,
  failed: 0,
  added: 0,
  merged: 0,
  expired: 0,
  codes: [],
  failedRuns: [],
}

const empty: Depth = {
  ...{ ready: 0, delayed: 0, held: 0, parked: 0, oldestMs: 0 },
  ...{ capped: false, paused: false },
}

function worker(holder: string): WorkerInfo {
  return { holder, host: 'host', pid: 1, concurrency: 1, settings: {} }
}

/** A heartbeat with a record, repeated until the driver has added it. */
async function record(s: Scene, parts: Partial<WorkRecord>, holder = 'w1'): Promise<TickReply> {
  const request = { holder, worker: worker(holder), record: { ...nothing, ...parts } }
  // The session that records meanwhile may be held up.
  const endsAt = systemClock.monotonicMs() + s.context.hintMs
  for (;;) {
    const reply = await s.tick(request)
    if (reply.recorded === true || systemClock.monotonicMs() > endsAt) return reply
    await realTime()
  }
}

async function stepsOf(s: Scene, { stepMs } = fine): Promise<readonly HistoryStep[]> {
  const reply = await s.driver.history?.(s.queue, stepMs)
  assert.ok(reply, 'a driver that declares history has it')
  assert.equal(reply.now, s.now())
  return reply.steps
}

async function failedRuns(s: Scene): Promise<readonly FailedRun[]> {
  return (await s.driver.failedRuns?.(s.queue)) ?? []
}

/** Steps the clock to the start of a step of the coarsest resolution. */
async function toStepStart(s: Scene): Promise<void> {
  await s.step(coarse.stepMs - (s.now() % coarse.stepMs))
}

/** The work since the last record, as one more worker would record it. */
const some: WorkCounts = { started: 9, done: 5, failed: 3, added: 11, merged: 70, expired: 1 }

function run(at: number, key: string, parts: Partial<FailedRun> = {}): FailedRun {
  return { at, key, code: 'E', holder: 'w1', failures: 0, lastError: '{}', ...parts }
}

async function recordRuns(s: Scene, runs: readonly FailedRun[]): Promise<void> {
  await record(s, { failedRuns: runs })
}

/** The history of a queue, and its failed runs. */
export const historyCasesOfQueues: readonly Case[] = [
  {
    id: 'history.recorded',
    title: 'a record is added to the current step of each resolution, and a tick says so',
    needs: { history: true },
    async run(s) {
      await toStepStart(s)
      await s.step(2_345)
      assert.deepEqual(await stepsOf(s), [])
      const codes: CodeCounts = [['ECONNREFUSED', 3]]
      assert.equal((await record(s, { ...some, codes })).recorded, true)
      for (const resolution of historyResolutions) {
        const { stepMs } = resolution
        const at = Math.floor(s.now() / stepMs) * stepMs
        assert.deepEqual(await stepsOf(s, resolution), [{ at, ...some, depth: empty, codes }])
      }
    },
  },
  {
    id: 'history.sums',
    title:
      'records of the same step are added up, of whatever workers; the next step begins at zero',
    needs: { history: true },
    async run(s) {
      await toStepStart(s)
      const start = s.now()
      await record(s, some, 'w1')
      await s.step(fine.stepMs - 1)
      await record(s, { ...some, merged: Number.MAX_SAFE_INTEGER - 1_000 }, 'w2')
      await s.step(1)
      await record(s, { ...nothing, started: 1 }, 'w1')
      const [first, second] = await stepsOf(s)
      const { codes: _, depth: __, ...counts } = first as HistoryStep
      assert.deepEqual(counts, {
        at: start,
        started: 18,
        done: 10,
        failed: 6,
        added: 22,
        merged: Number.MAX_SAFE_INTEGER - 1_000 + some.merged,
        expired: 2,
      })
      assert.equal(second?.at, start + fine.stepMs)
      assert.equal(second.started, 1)
      assert.equal(second.done, 0)
      assert.equal((await stepsOf(s, coarse))[0]?.started, 19)
    },
  },
  {
    id: 'history.depth',
    title: 'the first record of each ten seconds counts the keys of the queue, up to a limit',
    needs: { history: true, operate: true },
    async run(s) {
      await toStepStart(s)
      await s.addAll(['a', 'b', 'c', 'd', 'e', 'f'])
      await s.claimOne('a', { leaseMs: Infinity })
      await s.claimOne('b', { leaseMs: Infinity })
      await s.add('b')
      await s.addAfter('later', 500_000)
      await s.addAfter('failed', 500_000, { failed: true })
      await s.operate.park(s.queue, ['f'])
      await s.step(250.5)
      await record(s, {})
      const counted = { ready: 3, delayed: 2, held: 2, parked: 1, capped: false, paused: false }
      const depth: Depth = { ...counted, oldestMs: 250.5 }
      assert.deepEqual((await stepsOf(s)).at(-1)?.depth, depth)
      await s.add('g')
      await s.step(fine.stepMs - 251.5)
      await record(s, {})
      assert.deepEqual((await stepsOf(s)).at(-1)?.depth, depth)
      await s.claimOne('c', { leaseMs: Infinity })
      await s.operate.park(s.queue, ['d'])
      await s.addAfter('later too', 500_000)
      await s.step(1)
      await record(s, {})
      const changed = { ready: 2, delayed: 3, held: 3, parked: 2, oldestMs: fine.stepMs }
      for (const resolution of historyResolutions) {
        assert.deepEqual((await stepsOf(s, resolution)).at(-1)?.depth, { ...depth, ...changed })
      }
      for (let n = 0; n < historyDepthCap; n += 1_000) {
        await s.addAll(Array.from({ length: 1_000 }, (_, i) => `k${n + i}`))
      }
      await s.step(fine.stepMs)
      await record(s, {})
      for (const resolution of historyResolutions) {
        const most = (await stepsOf(s, resolution)).at(-1)?.depth
        assert.deepEqual([most?.ready, most?.capped], [historyDepthCap, true])
      }
    },
  },
  {
    id: 'history.paused',
    title: 'the first record of each ten seconds tells whether the queue is paused',
    needs: { history: true, operate: true },
    async run(s) {
      await toStepStart(s)
      // With a key and without one.
      for (const n of [0, 1]) {
        await record(s, {})
        await s.operate.pause(s.queue)
        await record(s, {})
        await s.step(fine.stepMs)
        await record(s, {})
        assert.equal((await stepsOf(s, coarse)).at(-1)?.depth.paused, true)
        await s.operate.resume(s.queue)
        await s.step(fine.stepMs)
        await record(s, {})
        const paused = (await stepsOf(s)).map(({ depth }) => depth.paused)
        assert.deepEqual(paused.slice(-3), [false, true, false])
        assert.equal((await stepsOf(s, coarse)).at(-1)?.depth.paused, false)
        if (n === 0) await s.addAfter('later', 500_000)
        await s.step(fine.stepMs)
      }
    },
  },
  {
    id: 'history.gaps',
    title: 'steps without a record are missing; a heartbeat without one adds none',
    needs: { history: true },
    async run(s) {
      await toStepStart(s)
      const start = s.now()
      await record(s, {})
      await s.step(2 * fine.stepMs)
      const { recorded } = await s.tick({ holder: 'w1', worker: worker('w1') })
      assert.notEqual(recorded, true)
      await s.step(fine.stepMs)
      await record(s, {})
      const steps = await stepsOf(s)
      assert.deepEqual(
        steps.map(({ at }) => at - start),
        [0, 3 * fine.stepMs],
      )
    },
  },
  {
    id: 'history.bounded',
    title: 'each resolution keeps its latest steps, and drops the older ones without a record, too',
    needs: { history: true },
    async run(s) {
      await toStepStart(s)
      for (let n = 0; n < fine.steps + 5; n += 1) {
        await record(s, { done: n })
        await s.step(fine.stepMs)
      }
      const last = s.now() - fine.stepMs
      const kept = await stepsOf(s)
      assert.deepEqual(
        kept.map(({ at }) => at),
        Array.from({ length: fine.steps - 1 }, (_, n) => last - (fine.steps - 2 - n) * fine.stepMs),
      )
      assert.equal(kept.at(-1)?.done, fine.steps + 4)
      assert.equal((await stepsOf(s, middle)).length, 6)
      await s.step((fine.steps - 2) * fine.stepMs)
      assert.equal((await stepsOf(s)).length, 1)
      await s.step(fine.stepMs)
      assert.deepEqual(await stepsOf(s), [])
      assert.equal((await stepsOf(s, coarse)).length, 1)
    },
  },
  {
    id: 'history.per-queue',
    title: 'queues have histories of their own, and a queue that has only a history is not listed',
    needs: { history: true, queues: true },
    async run(s) {
      const other = s.on('other')
      await record(other, some)
      for (const code of ['E', 'F', 'G']) {
        const theirs = Array.from({ length: failedRunsOfCodeMax }, () =>
          run(s.now(), 'a', { code }),
        )
        await recordRuns(other, theirs)
      }
      assert.deepEqual(await stepsOf(s), [])
      assert.deepEqual(await failedRuns(s), [])
      assert.equal((await stepsOf(other)).length, 1)
      assert.equal((await failedRuns(other)).length, failedRunsMax)
      assert.deepEqual(await s.driver.queues?.(), ['other'])
      await s.add('mine')
      const mine = run(s.now() - 1, 'mine')
      await recordRuns(s, [mine])
      assert.deepEqual(await failedRuns(s), [mine])
      assert.equal((await stepsOf(s))[0]?.depth.ready, 1)
      assert.equal((await failedRuns(other)).length, failedRunsMax)
    },
  },
  {
    id: 'history.codes',
    title: 'codes are added up, most failed runs first, and only the most frequent are kept',
    needs: { history: true },
    async run(s) {
      await toStepStart(s)
      const many = Array.from({ length: historyCodesMax }, (_, n) => [`E${n}`, n + 2] as const)
      await record(s, { codes: [...many].reverse() })
      await record(
        s,
        {
          codes: [
            ['E1', 20],
            ['__proto__', 4],
            ['rare "x"', 1],
          ],
        },
        'w2',
      )
      const [step] = await stepsOf(s)
      assert.deepEqual(step?.codes, [
        ['E1', 23],
        ['E7', 9],
        ['E6', 8],
        ['E5', 7],
        ['E4', 6],
        ['E3', 5],
        ['E2', 4],
        ['__proto__', 4],
      ])
    },
  },
  {
    id: 'history.durable',
    title: 'the history and the failed runs are there after a restart',
    needs: { history: true, durable: true },
    async run(s) {
      const failed = run(s.now(), 'a')
      await record(s, { ...some, failedRuns: [failed] })
      const later = await s.restart()
      assert.equal((await stepsOf(later))[0]?.done, some.done)
      assert.deepEqual(await failedRuns(later), [failed])
    },
  },
  {
    id: 'history.peers',
    title: 'records that two drivers add at the same moment are added up',
    needs: { history: true, peers: true },
    async run(s) {
      await toStepStart(s)
      const other = await s.peer()
      await Promise.all(
        [1, 2, 3, 4].flatMap((n) => [
          record(s, { done: 1 }, `here ${n}`),
          record(other, { done: 100 }, `there ${n}`),
        ]),
      )
      assert.equal((await stepsOf(s))[0]?.done, 404)
    },
  },
  {
    id: 'failed-runs.kept',
    title: 'failed runs are kept as they were recorded, newest first, and outlive their keys',
    needs: { history: true, operate: true },
    async run(s) {
      await s.add('a "1"')
      const claim = await s.claimOne()
      const lastError = JSON.stringify({ name: 'Error', message: 'no "way" \\ 🚰' })
      const code = 'ECONN"REFUSED'
      const first = run(s.now() - 2.5, claim.key, { code, lastError, failures: 7 })
      const second = run(s.now() - 1, claim.key, { holder: 'w2' })
      const same = run(s.now() - 1, 'b')
      await recordRuns(s, [first, second, same])
      await s.done(claim)
      await s.operate.purge(s.queue)
      assert.deepEqual(await failedRuns(s), [same, second, first])
      const late = run(s.now() - 2, 'late')
      await recordRuns(s, [late])
      assert.deepEqual(await failedRuns(s), [same, second, late, first])
    },
  },
  {
    id: 'failed-runs.of-code',
    title: 'a frequent code does not push out the failed runs of others',
    needs: { history: true },
    async run(s) {
      const at = s.now()
      const rare = run(at - 1_000, 'rare', { code: 'RARE' })
      const frequent = Array.from({ length: failedRunsOfCodeMax + 5 }, (_, n) =>
        run(at + n, `k${n}`),
      )
      await recordRuns(s, [rare, ...frequent])
      const kept = await failedRuns(s)
      assert.deepEqual(kept, [...frequent.slice(5).reverse(), rare])
    },
  },
  {
    id: 'failed-runs.bounded',
    title: 'the newest failed runs are kept, no more than so many',
    needs: { history: true },
    async run(s) {
      const at = s.now()
      const runs = Array.from({ length: failedRunsMax + 3 }, (_, n) =>
        run(at + n, `k${n}`, { code: `E${n % 9}` }),
      )
      for (let n = 0; n < runs.length; n += 20) await recordRuns(s, runs.slice(n, n + 20))
      assert.deepEqual(await failedRuns(s), runs.slice(3).reverse())
    },
  },
  {
    id: 'failed-runs.for-a-day',
    title: 'failed runs are kept for a day',
    needs: { history: true },
    async run(s) {
      const failed = run(s.now(), 'a')
      await recordRuns(s, [failed])
      await s.step(failedRunsMsMax - 1)
      assert.deepEqual(await failedRuns(s), [failed])
      await s.step(1)
      assert.deepEqual(await failedRuns(s), [])
    },
  },
]
