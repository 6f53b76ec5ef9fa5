import assert from 'node:assert/strict'
import type { Ask, Dedupe, Finish, Lease, LimiterPlan, Operate } from '@sluice/core'
import * as fc from 'fast-check'
import { assertAlike, failuresExpireMs, type ModelRun, type PairedClaim } from './model-run.ts'

/** One step of a history, run on the driver and on the model, and compared. */
type Command = fc.AsyncCommand<object, ModelRun>

/** A step with its text for the report. */
function command(words: string, act: (run: ModelRun) => Promise<void>): Command {
  return {
    check: () => true,
    async run(_, run) {
      await act(run)
      await run.compare()
    },
    // On its own line in the report.
    toString: () => `\n  ${words}`,
  }
}

const queueIndex = fc.nat(1)
const via = fc.nat(1)
const key = fc.constantFrom('a', 'b', 'c', 'd', '🚰')
const keys = fc.uniqueArray(key, { minLength: 1, maxLength: 3 })
const dedupe = fc.constantFrom<Dedupe>('client-go', 'client-go', 'earliest')
const delayMs = fc.constantFrom(0, 0, 0, -5, 0.5, 1, 5, 10, 50, 1_000)
const leaseMs = fc.constantFrom(20, 20, 100, 1_000, Infinity)

const planKind = fc.constantFrom('none', 'none', 'none', 'doubling', 'bucket', 'both')

function planOf(kind: string, run: ModelRun, queue: string): LimiterPlan | undefined {
  const doubling: LimiterPlan = { kind: 'exponential', baseMs: 5, maxMs: 100 }
  const bucket: LimiterPlan = { kind: 'bucket', name: run.bucketOf(queue), perSecond: 20, burst: 2 }
  if (kind === 'doubling') return doubling
  if (kind === 'bucket') return bucket
  return kind === 'both' ? { kind: 'maxOf', of: [doubling, bucket] } : undefined
}

const delays = [0, -5, 0.5, 1, 5, 10, 50, 1_000]

/**
 * The trace context of an ask: one of three, or none. It follows from the other members, so that a
 * history is drawn as it would be without.
 */
function traceOf({ delayMs, priority }: Pick<Ask, 'delayMs' | 'priority'>): string | undefined {
  const digit = (delays.indexOf(delayMs) + (priority === 0 ? 0 : 1)) % 4
  if (digit === 0) return undefined
  return `00-${String(digit).repeat(32)}-${String(digit).repeat(16)}-01`
}

const askParts = fc.record({
  key,
  item: fc.constantFrom(undefined, '1', '"two"', '{"three":3}'),
  priority: fc.constantFrom(0, 0, 0, -1, 5),
  delayMs,
  maxWaitMs: fc.constantFrom(undefined, undefined, undefined, undefined, 30),
  failed: fc.constantFrom(undefined, undefined, true),
  planKind,
})

/** The queue of a step. */
function queueOf(run: ModelRun, index: number): string {
  return run.queues[index] as string
}

const add = fc
  .record({
    queueIndex,
    via,
    dedupe,
    maxPending: fc.constantFrom(undefined, undefined, undefined, 3),
    asks: fc.uniqueArray(askParts, { minLength: 1, maxLength: 4, selector: (ask) => ask.key }),
  })
  .map((parts) => {
    const words = parts.asks.map((ask) => {
      const plan = ask.planKind === 'none' ? '' : ` by ${ask.planKind}`
      const more = [
        ask.delayMs === 0 ? '' : ` in ${ask.delayMs} ms`,
        plan,
        ask.priority === 0 ? '' : ` at priority ${ask.priority}`,
        ask.maxWaitMs === undefined ? '' : ` at the latest in ${ask.maxWaitMs} ms`,
        ask.failed ? ' failed' : '',
        ask.item === undefined ? '' : ` with ${ask.item}`,
      ]
      return `${ask.key}${more.join('')}`
    })
    const limit = parts.maxPending === undefined ? '' : `, ${parts.maxPending} keys at most`
    return command(
      `add to ${parts.queueIndex} (${parts.dedupe}${limit}): ${words.join(', ')}`,
      async (run) => {
        const queue = queueOf(run, parts.queueIndex)
        const asks = parts.asks.map(
          ({ planKind: kind, ...ask }): Ask => ({
            ...ask,
            trace: traceOf(ask),
            plan: planOf(kind, run, queue),
            jitter: 0,
          }),
        )
        const options = { dedupe: parts.dedupe, failuresExpireMs, maxPending: parts.maxPending }
        const real = await run.real(parts.via).add(queue, asks, options)
        const model = run.model.add(queue, asks, options)
        assert.equal(real.length, model.length)
        for (const [index, reply] of model.entries()) {
          assertAlike(real[index] as object, reply, `the answer for ${asks[index]?.key}`)
        }
      },
    )
  })

const claim = fc
  .record({ queueIndex, via, limit: fc.integer({ min: 1, max: 3 }), leaseMs, bound: fc.nat(9) })
  .map((parts) =>
    command(
      `claim ${parts.limit} of ${parts.queueIndex} for ${parts.leaseMs} ms${
        parts.bound === 0 ? ', due 5 ms ago' : ''
      }`,
      async (run) => {
        const request = {
          limit: parts.limit,
          leaseMs: parts.leaseMs,
          holder: `holder ${parts.via}`,
          claimId: `claim ${run.claims.length}`,
          dueBy: parts.bound === 0 ? run.clock.now() - 5 : undefined,
        }
        const queue = queueOf(run, parts.queueIndex)
        await run.claim(queue, parts.via, request)
      },
    ),
  )

/** Claims by index, stale ones included, so that a shrunk history means nearly the same. */
function pick(run: ModelRun, queue: string, picks: readonly number[]): readonly PairedClaim[] {
  const found = new Map<string, PairedClaim>()
  const own = run.claims.filter((each) => each.queue === queue)
  for (const index of picks) {
    const each = own.at(-1 - index)
    if (each !== undefined && !found.has(each.key)) found.set(each.key, each)
  }
  return [...found.values()]
}

const picks = fc.array(fc.nat(5), { minLength: 1, maxLength: 3 })

const finishParts = fc.record({
  as: fc.constantFrom('done', 'done', 'again', 'retry', 'retry', 'release', 'park'),
  forget: fc.boolean(),
  priority: fc.constantFrom(undefined, -1, 0, 1),
  delayMs,
  planKind,
  error: fc.constantFrom(undefined, 'why'),
})

function finishOf(
  parts: typeof finishParts extends fc.Arbitrary<infer T> ? T : never,
  base: Lease,
  run: ModelRun,
  queue: string,
): Finish {
  const { delayMs, priority } = parts
  if (parts.as === 'done') return { as: 'done', ...base, forget: parts.forget }
  if (parts.as === 'again') {
    const again = { delayMs, priority: priority ?? 0 }
    return { as: 'done', ...base, forget: parts.forget, again }
  }
  if (parts.as === 'release') return { as: 'release', ...base }
  if (parts.as === 'park') return { as: 'park', ...base, error: parts.error }
  const plan = planOf(parts.planKind, run, queue)
  return { as: 'retry', ...base, delayMs, priority, plan, jitter: 0, error: parts.error }
}

const finish = fc
  .record({
    queueIndex,
    via,
    dedupe,
    picks,
    ways: fc.array(finishParts, { minLength: 3, maxLength: 3 }),
  })
  .map((parts) => {
    const words = parts.picks.map((index, i) => {
      const way = parts.ways[i]
      const delay = way?.as !== 'retry' ? '' : ` in ${way.delayMs} ms by ${way.planKind}`
      const forget = way?.as === 'done' && way.forget ? ' and forget' : ''
      return `${way?.as}${delay}${forget} of the last claim but ${index}`
    })
    return command(`in ${parts.queueIndex} (${parts.dedupe}): ${words.join(', ')}`, async (run) => {
      const queue = queueOf(run, parts.queueIndex)
      const chosen = pick(run, queue, parts.picks)
      if (chosen.length === 0) return
      const side = (tokenOf: (claim: PairedClaim) => number): Finish[] =>
        chosen.map((each, i) =>
          finishOf(parts.ways[i]!, { key: each.key, token: tokenOf(each) }, run, queue),
        )
      const options = { dedupe: parts.dedupe, failuresExpireMs }
      const real = await run.real(parts.via).finish(
        queue,
        side(({ realToken }) => realToken),
        options,
      )
      const model = run.model.finish(
        queue,
        side(({ modelToken }) => modelToken),
        options,
      )
      for (const [index, reply] of model.entries()) {
        assertAlike(real[index] as object, reply, `the answer for ${chosen[index]?.key}`)
      }
    })
  })

const renew = fc.record({ queueIndex, via, picks, leaseMs }).map((parts) =>
  command(
    `renew in ${parts.queueIndex} for ${parts.leaseMs} ms the last claims but ${parts.picks}`,
    async (run) => {
      const queue = queueOf(run, parts.queueIndex)
      const chosen = pick(run, queue, parts.picks)
      if (chosen.length === 0) return
      const ours = chosen.map((each) => ({ key: each.key, token: each.realToken }))
      const theirs = chosen.map((each) => ({ key: each.key, token: each.modelToken }))
      const real = await run.real(parts.via).renew(queue, ours, parts.leaseMs)
      for (const [index, reply] of run.model.renew(queue, theirs, parts.leaseMs).entries()) {
        assert.equal(real[index]?.outcome, reply.outcome)
        if (reply.outcome === 'renewed') assertAlike(real[index] as object, reply, 'the renewal')
      }
    },
  ),
)

const expire = fc
  .record({ queueIndex, via, dedupe, picks, planKind, maxCrashes: fc.constantFrom(2, 100) })
  .map((parts) =>
    command(
      `ends of leases in ${parts.queueIndex} (${parts.dedupe}, parked at ${parts.maxCrashes}, by ${
        parts.planKind
      }): the last claims but ${parts.picks}`,
      async (run) => {
        const queue = queueOf(run, parts.queueIndex)
        const chosen = pick(run, queue, parts.picks)
        if (chosen.length === 0) return
        const ours = chosen.map((each) => ({ key: each.key, token: each.realToken }))
        const theirs = chosen.map((each) => ({ key: each.key, token: each.modelToken }))
        const plan = planOf(parts.planKind, run, queue)
        const options = { dedupe: parts.dedupe, maxCrashes: parts.maxCrashes, plan, jitter: 0 }
        const real = await run.real(parts.via).expire(queue, ours, options)
        assert.deepEqual(real, run.model.expire(queue, theirs, options))
      },
    ),
  )

const expireReported = fc.record({ queueIndex, via, dedupe }).map((parts) =>
  command(`every lease of ${parts.queueIndex} that is over ends (${parts.dedupe})`, async (run) => {
    const queue = queueOf(run, parts.queueIndex)
    const request = { holder: 'clock', limit: 100, failuresExpireMs: Infinity }
    const options = { dedupe: parts.dedupe, maxCrashes: 100 }
    const byKey = (a: Lease, b: Lease): number => (a.key < b.key ? -1 : 1)
    const ours = [...(await run.real(parts.via).tick(queue, request)).leaseEnds].sort(byKey)
    const theirs = [...run.model.tick(queue, request).leaseEnds].sort(byKey)
    if (ours.length === 0) return
    const real = await run.real(parts.via).expire(queue, ours, options)
    assert.deepEqual(real, run.model.expire(queue, theirs, options))
  }),
)

/**
 * Deletes expired failure counts from both. A driver may delete them at any time; so this runs before
 * verbs whose answer says whether a row exists.
 */
async function sweepBoth(run: ModelRun, queue: string): Promise<void> {
  const request = { holder: 'sweeper', limit: 100, failuresExpireMs }
  await run.real(0).tick(queue, request)
  run.model.tick(queue, request)
}

const simple = fc
  .record({ queueIndex, via, keys, verb: fc.constantFrom('forget', 'cancel') })
  .map((parts) =>
    command(`${parts.verb} in ${parts.queueIndex}: ${parts.keys.join(', ')}`, async (run) => {
      const verb = parts.verb as 'forget' | 'cancel'
      const queue = queueOf(run, parts.queueIndex)
      await sweepBoth(run, queue)
      const real = await run.real(parts.via)[verb](queue, parts.keys)
      assert.deepEqual(real, run.model[verb](queue, parts.keys))
    }),
  )

const step = fc
  .constantFrom(0.5, 1, 4.5, 5, 10, 20, 50, 100, 1_000)
  .map((ms) => command(`step ${ms} ms`, (run) => run.step(ms)))

const sweep = queueIndex.map((index) =>
  command(`sweep ${index}`, (run) => sweepBoth(run, queueOf(run, index))),
)

const restart = fc.constant(command('restart', (run) => run.restart()))

async function operated(
  operate: Operate,
  verb: 'park' | 'unpark' | 'runNow' | 'remove' | 'pause' | 'resume' | 'purge',
  queue: string,
  named: readonly string[],
): Promise<unknown> {
  switch (verb) {
    case 'unpark':
      return await operate.unpark(queue, named, { forget: named.length === 1 })
    case 'park':
    case 'runNow':
    case 'remove':
      return await operate[verb](queue, named)
    case 'pause':
    case 'resume':
      return await operate[verb](queue)
    case 'purge':
      // The number is not compared: drivers may or may not count a key that is only held.
      await operate.purge(queue)
      return undefined
  }
}

const operate = fc
  .record({
    queueIndex,
    via,
    keys,
    verb: fc.constantFrom(
      'park',
      'unpark',
      'unpark',
      'runNow',
      'remove',
      'pause',
      'resume',
      'resume',
      'purge',
    ),
  })
  .map(({ queueIndex: index, via: by, keys: named, verb }) =>
    command(`${verb} in ${index}: ${named.join(', ')}`, async (run) => {
      const queue = queueOf(run, index)
      await sweepBoth(run, queue)
      const real = run.real(by).operate as Operate
      const answer = await operated(real, verb, queue, named)
      assert.deepEqual(answer, await operated(run.model.operate, verb, queue, named))
    }),
  )

/** The optional contents of a history. */
export interface HistoryParts {
  readonly operates: boolean
  readonly restarts: boolean
  /** The maximum number of steps of one history. */
  readonly maxCommands: number
}

/** Histories of every kind, as a fast-check arbitrary that can be shrunk. */
export function histories(
  parts: HistoryParts,
  replayPath?: string,
): fc.Arbitrary<Iterable<Command>> {
  const kinds: fc.Arbitrary<Command>[] = [add, add, claim, claim, finish, finish, renew, expire]
  kinds.push(expireReported, simple, step, step, sweep)
  if (parts.operates) kinds.push(operate)
  if (parts.restarts) kinds.push(restart)
  return fc.commands(kinds, {
    maxCommands: parts.maxCommands,
    size: '+1',
    ...(replayPath !== undefined && { replayPath }),
  })
}
