import assert from 'node:assert/strict'
import type { Chance } from '@sluice/conformance'
import {
  type Ask,
  type Dedupe,
  type ExpireOptions,
  type Finish,
  itemBytesMax,
  type LimiterPlan,
  type TransferRow,
} from '@sluice/core'
import { transferRow } from '@sluice/core/driver'
import {
  assertAlike,
  type BothSides,
  everything,
  failuresExpireMs,
  type PairedClaim,
} from './both-sides.ts'

/** One step: done to the driver and to the model, and compared. Says in words what it did. */
export type Step = (sides: BothSides, queue: string, chance: Chance) => Promise<string>

/** How many keys a queue can have. */
const keysMax = 1_500

/** Batches of every size that a driver may be given. */
const sizes = [1, 2, 5, 30, 130, 300, 600, 1_000]

function keysOf(chance: Chance): string[] {
  const size = chance.pick(sizes)
  const keys = new Set<string>()
  // A run of neighbours, or keys from everywhere.
  const first = chance.happens(0.5) ? chance.below(keysMax) : undefined
  while (keys.size < size) {
    const at = first === undefined ? chance.below(keysMax) : (first + keys.size) % keysMax
    keys.add(`key/${at}`)
  }
  return [...keys]
}

function dedupeOf(chance: Chance): Dedupe {
  return chance.happens(0.3) ? 'earliest' : 'client-go'
}

function delayOf(chance: Chance): number {
  return chance.pick([0, 0, 0, 0, -5, 0.5, 1, 5, 10, 50, 1_000, 86_400_000])
}

function planOf(sides: BothSides, chance: Chance): LimiterPlan | undefined {
  const doubling: LimiterPlan = { kind: 'exponential', baseMs: 5, maxMs: 100 }
  const bucket: LimiterPlan = { kind: 'bucket', name: sides.bucket, perSecond: 1_000, burst: 50 }
  const both: LimiterPlan = { kind: 'maxOf', of: [doubling, bucket] }
  return chance.pick([undefined, undefined, undefined, doubling, bucket, both])
}

function itemOf(chance: Chance, index: number): string | undefined {
  // One long item in a batch is enough; the longest are as long as an item may be.
  if (index === 0 && chance.happens(0.05)) {
    const length = chance.pick([70_000, 200_001, itemBytesMax - 2])
    return JSON.stringify('x'.repeat(length))
  }
  return chance.pick([undefined, '1', '"two"', '{"three":3}', '"🚰"'])
}

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
      jitter: 0,
      ...(isPlanned && { plan: planOf(sides, chance) }),
      ...(isLatest && { maxWaitMs: 30 }),
      ...(chance.happens(0.1) && { failed: true }),
    }
  })
  const dedupe = dedupeOf(chance)
  const maxPending = chance.happens(0.1) ? chance.pick([3, 100, 700]) : undefined
  const options = { dedupe, failuresExpireMs, maxPending }
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
    dueBy: chance.happens(0.1) ? sides.clock.now() - 5 : undefined,
  }
  const driver = sides.driver(chance)
  const real = await driver.claim(queue, request)
  const bytes = real.claims.reduce((sum, { item = '' }) => sum + Buffer.byteLength(item), 0)
  // A claim that has reached the bytes of a batch ends early; the model ends with it.
  const most = bytes >= (driver.batchBytes ?? Infinity) ? real.claims.length : limit
  sides.pair(queue, claimId, real, sides.model.claim(queue, { ...request, limit: most }))
  return `claim ${limit} for ${request.leaseMs} ms: ${real.claims.length}`
}

/** Claims of a queue, mostly late ones and often all; each key once. */
function pick(sides: BothSides, queue: string, chance: Chance): PairedClaim[] {
  const own = sides.claims.filter((each) => each.queue === queue)
  const size = chance.pick(sizes)
  const recent = chance.happens(0.8) ? own.slice(-size) : own
  const found = new Map<string, PairedClaim>()
  while (recent.length > 0 && found.size < size) {
    const [each] = recent.splice(chance.below(recent.length), 1)
    if (each !== undefined && !found.has(each.key)) found.set(each.key, each)
  }
  return [...found.values()]
}

function finishOf(key: string, token: number, sides: BothSides, chance: Chance): Finish {
  const as = chance.pick(['done', 'done', 'done', 'retry', 'retry', 'release', 'park'] as const)
  if (as === 'done') return { as, key, token, forget: chance.happens(0.5) }
  if (as === 'release') return { as, key, token }
  if (as === 'park') return { as, key, token, error: chance.pick([undefined, 'why']) }
  const plan = planOf(sides, chance)
  return { as, key, token, delayMs: delayOf(chance), plan, jitter: 0, error: 'why' }
}

const finish: Step = async (sides, queue, chance) => {
  const chosen = pick(sides, queue, chance)
  if (chosen.length === 0) return 'finish nothing'
  const real = chosen.map((each) => finishOf(each.key, each.realToken, sides, chance))
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

function expireOptions(sides: BothSides, chance: Chance): ExpireOptions {
  const maxCrashes = chance.pick([2, 100])
  return { dedupe: dedupeOf(chance), maxCrashes, plan: planOf(sides, chance), jitter: 0 }
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
  const options = expireOptions(sides, chance)
  const real = await sides.driver(chance).expire(queue, ours, options)
  const model = sides.model.expire(queue, theirs, options)
  assert.deepEqual(real, model)
  const expired = model.filter((outcome) => outcome !== 'lost').length
  if (expired > 100) sides.saw('more than 100 leases that end at once')
  return `expire ${chosen.length} leases: ${expired}`
}

const forgetOrCancel: Step = async (sides, queue, chance) => {
  const keys = keysOf(chance)
  const verb = chance.pick(['forget', 'cancel'] as const)
  // Expired failures that one side has swept away would be forgotten on the other.
  await sweep(sides, queue, chance)
  const real = await sides.driver(chance)[verb](queue, keys)
  assert.deepEqual(real, sides.model[verb](queue, keys))
  return `${verb} ${keys.length} keys`
}

const sweep: Step = async (sides, queue, chance) => {
  const request = { holder: 'sweeper', limit: everything, failuresExpireMs }
  const real = await sides.driver(chance).tick(queue, request)
  const { swept } = sides.model.tick(queue, request)
  sides.pairEnds(queue, real.leaseEnds, true)
  if (swept > 100) sides.saw('a sweep of more than 100 rows')
  return `sweep ${real.swept} rows`
}

const operate: Step = async (sides, queue, chance) => {
  const { operate: real } = sides.driver(chance)
  const { operate: model } = sides.model
  if (real === undefined) return 'no operator'
  await sweep(sides, queue, chance)
  const verbs = [
    'park',
    'unpark',
    'unpark',
    'runNow',
    'remove',
    'pause',
    'resume',
    'resume',
  ] as const
  const verb = chance.happens(0.1) ? 'purge' : chance.pick(verbs)
  if (verb === 'purge') {
    const before = (await sides.rows(sides.model, queue)).rows.length
    await real.purge(queue)
    await model.purge(queue)
    if (before > 1_000) sides.saw('a purge of more than 1,000 keys')
    return `purge ${before} keys`
  }
  if (verb === 'pause' || verb === 'resume') {
    assert.equal(await real[verb](queue), await model[verb](queue))
    return verb
  }
  const keys = keysOf(chance)
  if (verb === 'unpark') {
    const options = { forget: chance.happens(0.5) }
    assert.deepEqual(
      await real.unpark(queue, keys, options),
      await model.unpark(queue, keys, options),
    )
  } else assert.deepEqual(await real[verb](queue, keys), await model[verb](queue, keys))
  return `${verb} ${keys.length} keys`
}

const look: Step = async (sides, queue, chance) => {
  const driver = sides.driver(chance)
  await sweep(sides, queue, chance)
  const states = ['ready', 'delayed', 'backoff', 'processing', 'dirty', 'parked', 'idle'] as const
  const request = chance.happens(0.5)
    ? { state: chance.pick(states) }
    : { prefix: `key/${chance.below(20)}` }
  const real = (await sides.rows(driver, queue, request)).rows
  const model = (await sides.rows(sides.model, queue, request)).rows
  assert.deepEqual(
    real.map(({ key }) => key),
    model.map(({ key }) => key),
  )
  const ids = sides.claims.slice(-20).map(({ claimId }) => claimId)
  const adopted = ids.length === 0 ? undefined : await driver.adopt?.(queue, chance.pick(ids))
  return `list ${JSON.stringify(request)}: ${real.length} keys, adopt ${adopted?.length ?? 0}`
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
  if (model.length > 100) sides.saw('more than 100 adopted claims')
  return `adopt ${real.length} claims`
}

/**
 * The same rows, in their order, behind those of another queue: positions of two queues cannot be compared,
 * since some drivers count them for each queue and others for the whole store.
 */
function behind(rows: readonly TransferRow[], others: readonly TransferRow[]): TransferRow[] {
  const last = others.reduce((highest, { seq }) => Math.max(highest, seq), 0)
  const positions = new Map(
    [...rows].sort((a, b) => a.seq - b.seq).map(({ key }, index) => [key, last + 1 + index]),
  )
  return rows.map((row) => ({ ...row, seq: positions.get(row.key) ?? row.seq }))
}

/** Moves what is stored of a queue into another one. */
const transfer: Step = async (sides, queue, chance) => {
  const driver = sides.driver(chance)
  const { transfer: real } = driver
  if (real === undefined) return 'no transfer'
  const target = chance.pick(sides.queues)
  const keys = new Set(keysOf(chance))
  const rowsOf = async (side: typeof driver, from: string): Promise<TransferRow[]> =>
    (await sides.rows(side, from)).rows.map(transferRow)
  const rowsToMove = async (side: typeof driver): Promise<TransferRow[]> =>
    (await rowsOf(side, queue)).filter(({ key }) => keys.has(key))
  await sweep(sides, queue, chance)
  await sweep(sides, target, chance)
  const ours = await rowsToMove(driver)
  const theirs = await rowsToMove(sides.model)
  if (ours.length === 0) return 'transfer nothing'
  if (target === queue) {
    assert.deepEqual(
      await real.importRows(target, ours),
      await sides.model.transfer.importRows(target, theirs),
    )
  } else {
    assert.deepEqual(
      await real.importRows(target, behind(ours, await rowsOf(driver, target))),
      await sides.model.transfer.importRows(
        target,
        behind(theirs, await rowsOf(sides.model, target)),
      ),
    )
    assert.deepEqual(
      await real.dropRows(queue, ours),
      await sides.model.transfer.dropRows(queue, theirs),
    )
  }
  if (ours.length > 100) sides.saw('a transfer of more than 100 rows')
  return `transfer ${ours.length} rows to ${target}`
}

/** Adds and finishes in a transaction of the caller, which is committed or rolled back. */
const transact: Step = async (sides, queue, chance) => {
  const driver = sides.driver(chance)
  const { begin } = sides.subject
  if (driver.transact === undefined || begin === undefined) return 'no transactions'
  const transaction = await begin()
  const verbs = driver.transact(transaction.handle)
  const options = { dedupe: dedupeOf(chance), failuresExpireMs }
  const asks = keysOf(chance).map(
    (key): Ask => ({ key, item: undefined, priority: 0, delayMs: delayOf(chance) }),
  )
  const real = await verbs.add(queue, asks, options)
  if (chance.happens(0.4)) {
    await transaction.rollback()
    sides.saw('a rollback')
    return `add ${asks.length} keys in a transaction that is rolled back`
  }
  await transaction.commit()
  sides.saw('a commit')
  for (const [index, reply] of sides.model.add(queue, asks, options).entries()) {
    assertAlike(real[index] as object, reply, `the answer for ${asks[index]?.key}`)
  }
  return `add ${asks.length} keys in a transaction`
}

const wait: Step = async (sides, _, chance) => {
  const ms = chance.pick([0.5, 1, 5, 10, 20, 50, 100, 1_000, 40_000])
  await sides.clock.step(ms)
  return `step ${ms} ms`
}

const restart: Step = async (sides) => {
  await sides.restart()
  return 'restart'
}

/** Every step, as often as it is to come. */
export const steps: readonly Step[] = [
  ...[add, add, add, add, claim, claim, claim, finish, finish, finish, renew, expire],
  ...[forgetOrCancel, operate, look, adopt, transfer, transact, wait, wait, wait, restart],
]
