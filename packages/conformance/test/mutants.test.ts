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
import { concurrentMutants, processMutants } from './mutants/concurrent/concurrent-mutants.ts'
import { raceMutants } from './mutants/concurrent/race-mutants.ts'
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

function casesFor(mutant: Mutant): readonly Case[] {
  const own = large.filter(([mutants]) => mutants.includes(mutant)).flatMap(([, cases]) => cases)
  return [...lookups, ...own, ...(searched.has(mutant) ? searches : [])]
}

/** Enough histories for the rarest of them to appear. */
const chance = { seed: 7, histories: 80, modelRuns: 400 }

const failuresOf = new Map<string, readonly string[]>()

describe('every mutant is caught, and is a subtle one', () => {
  for (const mutant of allMutants) {
    const { id, title, create } = mutant
    test(`${id}: ${title}`, { timeout: 60_000 }, async () => {
      const failed: string[] = []
      for (const chosen of casesFor(mutant)) {
        const options = { hintMs: 20, timeoutMs: 20_000, chance }
        const { verdict } = await runCase(chosen, create, options)
        if (verdict === 'failed') failed.push(chosen.id)
      }
      failuresOf.set(id, failed)
      expect(failed.length, 'it is caught').toBeGreaterThan(0)
      expect(failed.length / allCases.length, failed.join(' ')).toBeLessThanOrEqual(shareMax)
    })
  }
})

test('every case is guarded by a subtle mutant', () => {
  const guarded = new Set<string>()
  for (const failed of failuresOf.values()) {
    if (failed.length / allCases.length <= shareMax) for (const id of failed) guarded.add(id)
  }
  expect(allCases.map(({ id }) => id).filter((id) => !guarded.has(id))).toEqual([])
})

test('faults of concurrent calls alone are caught by histories', () => {
  for (const { id } of raceMutants) {
    const failed = failuresOf.get(id) ?? []
    const byHistory = failed.filter((each) => each.startsWith('histories.'))
    expect(byHistory, id).not.toEqual([])
    expect(failed.length - byHistory.length, `${id} is correct one call after another`).toBe(0)
  }
})

test('the comparison with the model finds the mutants of the model checker', () => {
  const missed = theEleven.filter(({ id }) => !failuresOf.get(id)?.includes('model.alike'))
  expect(missed.map(({ id }) => id)).toEqual([])
})
