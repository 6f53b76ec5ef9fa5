import { describe, expect, test } from 'vitest'
import { allCases } from '../src/cases/all.ts'
import { runCase } from '../src/run-cases.ts'
import { allMutants } from './mutants/all.ts'

/** A mutant that breaks more than this share of the promises proves nothing about any of them. */
const shareMax = 0.25

const failuresOf = new Map<string, readonly string[]>()

describe('every mutant is caught, and is a subtle one', () => {
  for (const { id, title, create } of allMutants) {
    test(`${id}: ${title}`, async () => {
      const failed: string[] = []
      for (const chosen of allCases) {
        const { verdict } = await runCase(chosen, create, { hintMs: 20, timeoutMs: 1_000 })
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
