import assert from 'node:assert/strict'
import type { Chance } from '@sluice/conformance'
import {
  type ListReply,
  type TickRequest,
  type TransferRow,
  type WorkerRow,
  type WorkRecord,
  workerMsMax,
} from '@sluice/core'
import { compareKeys, historyResolutions, transferRow } from '@sluice/core/driver'
import { everything, failuresExpireMs } from './both-sides.ts'
import { keysOf } from './choices.ts'
import type { Step } from './step.ts'

export const forgetOrCancel: Step = async (sides, queue, chance) => {
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

export const operate: Step = async (sides, queue, chance) => {
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
    assert.equal(await real.purge(queue), await model.purge(queue))
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

export const look: Step = async (sides, queue, chance) => {
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
  const paged: string[] = []
  const limit = chance.pick([7, 40, 300])
  let cursor: string | undefined
  do {
    const page: ListReply = await driver.list(queue, {
      ...request,
      limit,
      ...(cursor !== undefined && { cursor }),
    })
    paged.push(...page.rows.map(({ key }) => key))
    cursor = page.cursor
  } while (cursor !== undefined)
  assert.deepEqual(
    paged,
    model.map(({ key }) => key),
  )
  const keys = keysOf(chance)
  const named = await driver.list(queue, { ...request, keys, limit: 1 })
  assert.deepEqual(
    named.rows.map(({ key }) => key).sort(),
    sides.model
      .list(queue, { ...request, keys, limit: 1 })
      .rows.map(({ key }) => key)
      .sort(),
  )
  const ids = sides.claims.slice(-20).map(({ claimId }) => claimId)
  const adopted = ids.length === 0 ? undefined : await driver.adopt?.(queue, chance.pick(ids))
  return `list ${JSON.stringify(request)}: ${real.length} keys, adopt ${adopted?.length ?? 0}`
}

const codes = ['E1', 'E2', 'E3', 'E4', 'é', 'E6', 'E7', 'E8', 'E9', 'E10']

function workOf(holder: string, now: number, chance: Chance): WorkRecord {
  const some = (): number => chance.below(5)
  return {
    started: some(),
    done: some(),
    failed: some(),
    added: some(),
    merged: some(),
    expired: some(),
    codes: codes.filter(() => chance.happens(0.3)).map((code) => [code, 1 + some()]),
    failedRuns: Array.from({ length: some() }, (_, index) => ({
      at: now - 5 + index,
      key: `key/${index}`,
      code: chance.pick(codes),
      holder,
      failures: some(),
      lastError: 'why',
    })),
  }
}

/** A heartbeat with a record of work; then all that is known of the workers and their work. */
export const record: Step = async (sides, queue, chance) => {
  await sweep(sides, queue, chance)
  const holder = `holder ${chance.below(3)}`
  const request: TickRequest = {
    holder,
    worker: { holder, host: 'here', pid: chance.below(9), concurrency: 1, settings: {} },
    record: workOf(holder, sides.now, chance),
    limit: everything,
    failuresExpireMs: Infinity,
  }
  const { recorded } = await sides.driver(chance).tick(queue, request)
  const { model } = sides
  assert.equal(recorded, model.tick(queue, request).recorded)
  const driver = sides.driver(chance)
  for (const { stepMs } of driver.history === undefined ? [] : historyResolutions) {
    assert.deepEqual(await driver.history?.(queue, stepMs), model.history(queue, stepMs))
  }
  if (driver.failedRuns !== undefined) {
    assert.deepEqual(await driver.failedRuns(queue), model.failedRuns(queue))
  }
  if (driver.workers !== undefined) {
    const withinMs = chance.pick([5, 5_000, workerMsMax])
    const byHolder = (rows: readonly WorkerRow[]): WorkerRow[] =>
      [...rows].sort((a, b) => compareKeys(a.holder, b.holder))
    assert.deepEqual(
      byHolder(await driver.workers(queue, withinMs)),
      byHolder(model.workers(queue, withinMs)),
    )
  }
  if (driver.queues !== undefined) {
    const ours = (names: readonly string[]): string[] =>
      names.filter((name) => sides.queues.includes(name)).sort(compareKeys)
    assert.deepEqual(ours(await driver.queues()), ours(model.queues()))
  }
  return 'a record of work'
}

/** What a move does with the tokens of its target. */
export const raiseTokens: Step = async (sides, _, chance) => {
  const by = chance.pick([-1_000, 0, 1, 1_000_000])
  await sides.raiseTokens(sides.driver(chance), by)
  return `raise the tokens by ${by}`
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
export const transfer: Step = async (sides, queue, chance) => {
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
