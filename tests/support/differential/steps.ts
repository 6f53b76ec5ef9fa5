import assert from 'node:assert/strict'
import type { Chance } from '@sluice/conformance'
import type { Ask, Finish } from '@sluice/core'
import { assertAlike, type BothSides, failuresExpireMs, type PairedClaim } from './both-sides.ts'
import {
  dedupeOf,
  delayOf,
  expireOptions,
  finishOf,
  itemOf,
  keysOf,
  pick,
  planOf,
  sizes,
  traceOf,
} from './choices.ts'
import { forgetOrCancel, look, operate, raiseTokens, record, transfer } from './operator-steps.ts'
import type { Step } from './step.ts'

const add: Step = async (sides, queue, chance) => {
  const keys = keysOf(chance)
  const spread = chance.pick([0, 0, 3, 20, 1_000])
  const isPlanned = chance.happens(0.2)
  const delayMs = chance.happens(0.5) ? delayOf(chance) : undefined
  const asks = keys.map((key, index): Ask => {
    const isLatest = chance.happens(0.05)
    return {
      key,
      item: itemOf(chance, index),
      priority: spread === 0 ? 0 : chance.below(2 * spread + 1) - spread,
      delayMs: delayMs ?? delayOf(chance),
      jitter: chance.next(),
      trace: traceOf(chance),
      ...(isPlanned && { plan: planOf(sides, queue, chance) }),
      ...(isLatest && { maxWaitMs: 30 }),
      ...(chance.happens(0.1) && { failed: true }),
    }
  })
  const dedupe = dedupeOf(chance)
  const maxPending = chance.happens(0.1) ? chance.pick([3, 100, 700]) : undefined
  const options = { dedupe, failuresExpireMs, maxPending }
  sides.adding(queue, asks)
  const real = await sides.driver(chance).add(queue, asks, options)
  const model = sides.model.add(queue, asks, options)
  assert.equal(real.length, model.length)
  for (const [index, reply] of model.entries()) {
    assertAlike(real[index] as object, reply, `the answer for ${keys[index]}`)
  }
  if (asks.length > 500) sides.saw('a batch of more than 500 adds')
  if (model.some(({ outcome }) => outcome === 'full')) sides.saw('a full queue')
  if (asks.some(({ item }) => (item?.length ?? 0) > 200_000)) sides.saw('a long item')
  return `add ${keys.length} keys, ${dedupe}, priorities to ${spread}`
}

const claim: Step = async (sides, queue, chance) => {
  const limit = chance.pick(sizes)
  const claimId = `claim ${sides.seen.get('a claim') ?? 0}`
  sides.saw('a claim')
  const request = {
    limit,
    leaseMs: chance.pick([20, 100, 1_000, 30_000, Infinity]),
    holder: `holder ${chance.below(3)}`,
    claimId,
    dueBy: chance.happens(0.1) ? sides.now - 5 : undefined,
  }
  const driver = sides.driver(chance)
  const real = await driver.claim(queue, request)
  const bytes = real.claims.reduce((sum, { item = '' }) => sum + Buffer.byteLength(item), 0)
  // A claim that has reached the bytes of a batch ends early; the model ends with it.
  const most = bytes >= (driver.batchBytes ?? Infinity) ? real.claims.length : limit
  sides.pair(queue, claimId, real, sides.model.claim(queue, { ...request, limit: most }))
  return `claim ${limit} for ${request.leaseMs} ms: ${real.claims.length}`
}

const finish: Step = async (sides, queue, chance) => {
  const chosen = pick(sides, queue, chance)
  if (chosen.length === 0) return 'finish nothing'
  const real = chosen.map((each) => finishOf(each.key, each.realToken, sides, queue, chance))
  const model = chosen.map(({ modelToken }, index): Finish => {
    return { ...(real[index] as Finish), token: modelToken }
  })
  const options = { dedupe: dedupeOf(chance), failuresExpireMs }
  const replies = await sides.driver(chance).finish(queue, real, options)
  for (const [index, reply] of sides.model.finish(queue, model, options).entries()) {
    assertAlike(replies[index] as object, reply, `the answer for ${chosen[index]?.key}`)
    if (reply.outcome === 'lost') sides.saw('a lost lease')
  }
  if (chosen.length > 500) sides.saw('a batch of more than 500 finishes')
  return `finish ${chosen.length} keys`
}

function bothOf(chosen: readonly PairedClaim[]) {
  return {
    ours: chosen.map(({ key, realToken }) => ({ key, token: realToken })),
    theirs: chosen.map(({ key, modelToken }) => ({ key, token: modelToken })),
  }
}

const renew: Step = async (sides, queue, chance) => {
  const chosen = pick(sides, queue, chance)
  if (chosen.length === 0) return 'renew nothing'
  const { ours, theirs } = bothOf(chosen)
  const leaseMs = chance.pick([20, 1_000, 30_000])
  const real = await sides.driver(chance).renew(queue, ours, leaseMs)
  for (const [index, reply] of sides.model.renew(queue, theirs, leaseMs).entries()) {
    assert.equal(real[index]?.outcome, reply.outcome, `the renewal of ${chosen[index]?.key}`)
    if (reply.outcome === 'renewed') assertAlike(real[index] as object, reply, 'the renewal')
  }
  if (chosen.length > 250) sides.saw('a renewal of more than 250 leases')
  return `renew ${chosen.length} leases for ${leaseMs} ms`
}

/** The leases that a heartbeat reports, as pairs. */
async function reported(sides: BothSides, queue: string, chance: Chance): Promise<PairedClaim[]> {
  const request = { holder: 'clock', limit: 1_000, failuresExpireMs: Infinity }
  const { leaseEnds } = await sides.driver(chance).tick(queue, request)
  const tokens = new Set(leaseEnds.map(({ token }) => token))
  return sides.claims.filter((each) => each.queue === queue && tokens.has(each.realToken))
}

const expire: Step = async (sides, queue, chance) => {
  const isReported = chance.happens(0.7)
  const chosen = isReported ? await reported(sides, queue, chance) : pick(sides, queue, chance)
  if (chosen.length === 0) return 'expire nothing'
  const { ours, theirs } = bothOf(chosen)
  const options = expireOptions(sides, queue, chance)
  const real = await sides.driver(chance).expire(queue, ours, options)
  const model = sides.model.expire(queue, theirs, options)
  assert.deepEqual(real, model)
  const expired = model.filter((outcome) => outcome !== 'lost').length
  if (expired > 100) sides.saw('more than 100 leases that end at once')
  return `expire ${chosen.length} leases: ${expired}`
}

const adopt: Step = async (sides, queue, chance) => {
  const driver = sides.driver(chance)
  const own = sides.claims.filter((each) => each.queue === queue).slice(-1_000)
  if (driver.adopt === undefined || own.length === 0) return 'adopt nothing'
  const { claimId } = chance.pick(own)
  const real = await driver.adopt(queue, claimId)
  const model = sides.model.adopt(queue, claimId)
  assert.deepEqual(
    real.map(({ key }) => key),
    model.map(({ key }) => key),
  )
  for (const [index, { token: _, ...each }] of model.entries()) {
    assertAlike(real[index] as object, each, `the claim of ${each.key}`)
  }
  if (model.length > 100) sides.saw('more than 100 adopted claims')
  return `adopt ${real.length} claims`
}

/** Adds and finishes in a transaction of the caller, which is committed or rolled back. */
const transact: Step = async (sides, queue, chance) => {
  const driver = sides.driver(chance)
  const { begin } = sides.subject
  if (driver.transact === undefined || begin === undefined) return 'no transactions'
  const isCommitted = chance.happens(0.6)
  const held = pick(sides, queue, chance).filter((each) => sides.isHeld(each))
  const ours = held.map(({ key, realToken }): Finish => {
    const each = finishOf(key, realToken, sides, queue, chance)
    // Some stores keep the tokens of buckets that a rollback gives back in others.
    return isCommitted ? each : ({ ...each, plan: undefined } as Finish)
  })
  const theirs = held.map(({ modelToken }, index): Finish => {
    return { ...(ours[index] as Finish), token: modelToken }
  })
  const { handle, commit, rollback } = await begin()
  const verbs = driver.transact(handle)
  const options = { dedupe: dedupeOf(chance), failuresExpireMs }
  const asks = keysOf(chance).map((key): Ask => {
    return { key, item: undefined, priority: 0, delayMs: delayOf(chance) }
  })
  const done = `add ${asks.length} keys and finish ${held.length} in a transaction`
  sides.adding(queue, asks)
  const added = await verbs.add(queue, asks, options)
  const finished = held.length === 0 ? [] : await verbs.finish(queue, ours, options)
  if (!isCommitted) {
    await rollback()
    sides.saw('a rollback')
    return `${done}, which is rolled back`
  }
  await commit()
  sides.saw('a commit')
  const expected = [
    ...sides.model.add(queue, asks, options),
    ...sides.model.finish(queue, theirs, options),
  ]
  for (const [index, reply] of [...added, ...finished].entries()) {
    assertAlike(
      reply,
      expected[index] as object,
      `the answer for ${[...asks, ...ours][index]?.key}`,
    )
  }
  if (held.length > 0) sides.saw('a finish in a transaction')
  return done
}

const wait: Step = async (sides, _, chance) => {
  const ms = chance.pick([0.5, 1, 5, 10, 20, 50, 100, 1_000, 40_000])
  await sides.clock.step(ms)
  return `step ${ms} ms`
}

const setClock: Step = async (sides, _, chance) => {
  const ms = chance.pick([-86_400_000, -5_000, -1_500, -500, -0.5, 500, 2_000, 60_000])
  await sides.setClock(sides.clock.now() + ms)
  return `set the clock by ${ms} ms`
}

const restart: Step = async (sides) => {
  await sides.restart()
  return 'restart'
}

/** Every step, as often as it is to come. */
export const steps: readonly Step[] = [
  ...[add, add, add, add, claim, claim, claim, finish, finish, finish, renew, expire],
  ...[forgetOrCancel, operate, look, adopt, transfer, transact, wait, wait, wait, restart],
  ...[setClock, record, raiseTokens],
]
