import assert from 'node:assert/strict'
import type { Claim, Dedupe, LimiterPlan } from '@sluice/core'
import type { Case } from '../../case.ts'
import type { Scene } from '../../scene/scene.ts'
import { agoMs, type Cell, type Cells, lateMs, type Start, table, type Verb } from './table-rows.ts'

/** Brings `key` into the state `start`, with a later run 100 ms after `untilVerbMs`. */
async function prepare(
  s: Scene,
  key: string,
  start: Start,
  untilVerbMs: number,
): Promise<Claim | undefined> {
  const leaseMs = untilVerbMs > 0 ? untilVerbMs - lateMs : 30_000
  const later = 100 + untilVerbMs
  if (start === 'held-of-two') {
    await s.add(key)
    await s.addAfter(key, later)
    return await s.claimOne(key, { leaseMs })
  }
  if (start === 'later+last') {
    // Only the end of a lease leaves two runs that are both to come.
    await s.add(key)
    const lost = await s.claimOne(key, { leaseMs: lateMs })
    await s.addAfter(key, later + lateMs)
    await s.step(lateMs)
    await s.expire(lost, { plan: { kind: 'exponential', baseMs: 300, maxMs: 300 } })
    return undefined
  }
  let claim: Claim | undefined
  if (start.startsWith('held')) {
    await s.add(key)
    claim = await s.claimOne(key, { leaseMs })
  }
  const parts = start.split('+')
  // Always as two runs: the other mode has to respect stored second runs.
  if (parts.includes('now')) await s.add(key)
  if (parts.includes('later')) await s.addAfter(key, later)
  return claim
}

async function act(
  s: Scene,
  key: string,
  verb: Verb,
  claim: Claim | undefined,
  dedupe: Dedupe,
): Promise<string> {
  const delayMs = Number(verb.split('-').at(-1))
  const held = (): Claim => {
    assert.ok(claim, `${verb} is of a held key`)
    return claim
  }
  switch (verb) {
    case 'add':
      return (await s.add(key, { dedupe })).outcome
    case 'add-after-50':
    case 'add-after-200':
      return (await s.addAfter(key, delayMs, { dedupe })).outcome
    case 'claim': {
      const { claims } = await s.claim({ limit: 10 })
      return claims.length > 0 ? 'claimed' : 'nothing'
    }
    case 'done':
      return (await s.done(held())).outcome
    case 'again-0':
    case 'again-50':
    case 'again-200': {
      const again = { delayMs, priority: 0 }
      const { key: heldKey, token } = held()
      const finish = { as: 'done', key: heldKey, token, forget: false, again } as const
      return (await s.finish(finish, { dedupe })).outcome
    }
    case 'retry-0':
    case 'retry-50':
    case 'retry-200':
      return (await s.retry(held(), delayMs, { dedupe })).outcome
    case 'release':
      return (await s.release(held(), { dedupe })).outcome
    case 'park':
      return (await s.parkHeld(held(), undefined, { dedupe })).outcome
    case 'expire-0':
    case 'expire-40':
    case 'expire-300': {
      const plan: LimiterPlan = { kind: 'exponential', baseMs: delayMs, maxMs: delayMs }
      return await s.expire(held(), { dedupe, ...(delayMs > 0 && { plan }) })
    }
    case 'cancel':
      return await s.cancel(key)
    case 'forget':
      return await s.forget(key)
  }
}

async function examineCell(
  s: Scene,
  verb: Verb,
  start: Start,
  dedupe: Dedupe,
  cell: Cell,
): Promise<void> {
  const untilVerbMs = verb.startsWith('expire') ? agoMs : 0
  const claim = await prepare(s, dedupe, start, untilVerbMs)
  if (untilVerbMs > 0) await s.step(untilVerbMs)
  const outcome = await act(s, dedupe, verb, claim, dedupe)
  const row = await s.rowIfAny(dedupe)
  const fromNow = (at: number | undefined): number | null =>
    at === undefined || at === Infinity ? null : at - s.now()
  const what = `${verb} of a key that is ${start}, under '${dedupe}'`
  assert.deepEqual([outcome, fromNow(row?.dueAt), fromNow(row?.laterAt)], cell, what)
}

function caseOf(verb: Verb, start: Start, cells: Cells): Case {
  const byMode = Array.isArray(cells)
    ? { 'client-go': cells as Cell, earliest: cells as Cell }
    : (cells as Readonly<Record<Dedupe, Cell>>)
  return {
    id: `table.${verb}.${start}`,
    title: `the transition table, both modes: ${verb} of a key that is ${start}`,
    async run(s) {
      await examineCell(s, verb, start, 'client-go', byMode['client-go'])
      await examineCell(s.on('other'), verb, start, 'earliest', byMode.earliest)
    },
  }
}

/** The transition table of the contract, cell by cell. */
export const tableCases: readonly Case[] = Object.entries(table).flatMap(([verb, row]) =>
  Object.entries(row).map(([start, cells]) => caseOf(verb as Verb, start as Start, cells)),
)
