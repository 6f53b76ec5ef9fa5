import {
  casesToSee,
  chooseGuards,
  everyPair,
  type Failures,
  type Guards,
  guardsText,
} from '@sluice/needs/guards'
import { describe, expect, test } from 'vitest'
import type { Case } from '../src/case.ts'
import { allCases } from '../src/cases/all.ts'
import { concurrentCases } from '../src/cases/concurrent/concurrent.ts'
import { processCases } from '../src/cases/concurrent/processes.ts'
import { historyCases } from '../src/cases/random/histories.ts'
import { modelCases } from '../src/cases/random/model.ts'
import { modelLargeCases } from '../src/cases/random/model-large.ts'
import { sizeCases } from '../src/cases/size/size.ts'
import { sizeGrowthCases } from '../src/cases/size/size-growth.ts'
import { sizeLimitCases } from '../src/cases/size/size-limits.ts'
import { atomicCases } from '../src/cases/store/atomic.ts'
import { powerCases } from '../src/cases/store/power.ts'
import { runCase } from '../src/run-cases.ts'
import { allMutants } from './mutants/all.ts'
import { concurrentMutants } from './mutants/concurrent/concurrent-mutants.ts'
import { processMutants } from './mutants/concurrent/process-mutants.ts'
import { raceMutants } from './mutants/concurrent/race-mutants.ts'
import recorded from './mutants/guards.json' with { type: 'json' }
import type { Mutant } from './mutants/mutant.ts'
import { sizeMutants } from './mutants/size-mutants.ts'
import { namesMutants } from './mutants/store/names-mutants.ts'
import { theEleven } from './mutants/the-eleven.ts'

/** A mutant that breaks a larger share of the promises proves nothing about any of them. */
const shareMax = 0.25

/** Cases that search, and take longer: run only on the mutants that need them. */
const searches = [...modelCases, ...modelLargeCases, ...historyCases]
const searched = new Set([...raceMutants, ...theEleven])

/** Cases with many keys, drivers or processes, likewise. */
const large: readonly (readonly [readonly Mutant[], readonly Case[]])[] = [
  [
    [...sizeMutants, ...namesMutants],
    [...sizeCases, ...sizeGrowthCases, ...sizeLimitCases],
  ],
  [concurrentMutants, [...concurrentCases, ...atomicCases]],
  [processMutants, [...processCases, ...powerCases]],
]
const elsewhere = new Set([...searches, ...large.flatMap(([, cases]) => cases)])
const lookups = allCases.filter((each) => !elsewhere.has(each))

/** Every pair that was seen: see @sluice/needs/guards. */
const guards: Guards = recorded

function casesFor(mutant: Mutant): readonly Case[] {
  if (!everyPair) {
    const ids = new Set(casesToSee(guards, mutant.id))
    if (theEleven.includes(mutant)) ids.add('model.alike')
    return allCases.filter(({ id }) => ids.has(id))
  }
  const own = large.filter(([mutants]) => mutants.includes(mutant)).flatMap(([, cases]) => cases)
  return [...lookups, ...own, ...(searched.has(mutant) ? searches : [])]
}

/** Enough histories for the rarest of them to appear. */
const chance = { seed: 7, histories: 80, modelRuns: 400 }

const seen = new Map<Mutant, Promise<Map<string, number>>>()

/** The cases that fail on a mutant, and how long each took; each mutant meets its cases once. */
function failuresOf(mutant: Mutant): Promise<Map<string, number>> {
  const failures = seen.get(mutant) ?? runCases(mutant)
  seen.set(mutant, failures)
  return failures
}

async function runCases(mutant: Mutant): Promise<Map<string, number>> {
  const failed = new Map<string, number>()
  for (const each of casesFor(mutant)) {
    const options = { hintMs: 20, timeoutMs: 20_000, chance }
    const { verdict, ms } = await runCase(each, mutant.create, options)
    if (verdict === 'failed') failed.set(each.id, ms)
  }
  return failed
}

describe('every mutant is caught, and is a subtle one', () => {
  for (const mutant of allMutants) {
    test(`${mutant.id}: ${mutant.title}`, async () => {
      const ids = [...(await failuresOf(mutant)).keys()]
      expect(ids.length, 'it is caught').toBeGreaterThan(0)
      expect(ids.length / allCases.length, ids.join(' ')).toBeLessThanOrEqual(shareMax)
      if (!everyPair)
        expect(ids, 'the cases that it guards fail').toEqual(
          casesFor(mutant).map((each) => each.id),
        )
    })
  }
})

test('every case is guarded by a subtle mutant', async () => {
  const found = everyPair ? chooseGuards(await subtleFailures(), guards) : guards
  const known = new Set(allMutants.map(({ id }) => id))
  const unguarded = allCases.filter(({ id }) => !known.has(found.guardOf[id] ?? ''))
  expect(unguarded.map(({ id }) => id)).toEqual([])
  if (everyPair) await expect(guardsText(found)).toMatchFileSnapshot('mutants/guards.json')
})

async function subtleFailures(): Promise<Failures> {
  const all = new Map<string, Map<string, number>>()
  for (const mutant of allMutants) all.set(mutant.id, await failuresOf(mutant))
  return new Map([...all].filter(([, failed]) => failed.size / allCases.length <= shareMax))
}

test('faults of concurrent calls alone are caught by histories', async () => {
  for (const mutant of raceMutants) {
    const failed = [...(await failuresOf(mutant)).keys()]
    const byHistory = failed.filter((each) => each.startsWith('histories.'))
    expect(byHistory, mutant.id).not.toEqual([])
    expect(failed.length - byHistory.length, `${mutant.id} is correct one call after another`).toBe(
      0,
    )
  }
})

test('the comparison with the model finds the mutants of the model checker', async () => {
  const missed: string[] = []
  for (const mutant of theEleven) {
    if (!(await failuresOf(mutant)).has('model.alike')) missed.push(mutant.id)
  }
  expect(missed).toEqual([])
})
