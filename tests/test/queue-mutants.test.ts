import { type Case, modelSubject, queueCases, runCase } from '@sluice/conformance'
import { describe, expect, test } from 'vitest'
import { broken } from '../support/broken-queues.ts'
import { queueMutants } from '../support/queue-mutants/all.ts'

/** A mutant that breaks more than this share of the promises proves nothing about any of them. */
const shareMax = 0.25

const cases = queueCases(broken({}))

/**
 * Cases of a store that fails wait in real time until it is asked again: for as long as it takes, and
 * only with the mutants that are about errors of the store.
 */
const isStoreError = (caseId: string): boolean => caseId.startsWith('q-errors.')
const aboutErrors = new Set([
  'signal-hasty',
  'renew-nothing',
  'refusals-final',
  'get-impatient',
  'add-refused-silently',
  'finish-once',
  'retry-counts-again',
  'soon-never',
])

const failuresOf = new Map<string, readonly string[]>()

describe('every broken queue is caught, and is a subtle one', () => {
  for (const { id, title, breakage } of queueMutants) {
    test(`${id}: ${title}`, { timeout: 120_000 }, async () => {
      const failed: string[] = []
      for (const { id: caseId } of cases) {
        if (isStoreError(caseId) && !aboutErrors.has(id)) continue
        // Made for each case, so that no memory of one gets into the next.
        const [chosen] = queueCases(broken(breakage())).filter((each) => each.id === caseId)
        const options = isStoreError(caseId)
          ? { timeoutMs: 10_000, hintMs: 1_000 }
          : { timeoutMs: 3_000, hintMs: 60 }
        const { verdict } = await runCase(chosen as Case, () => modelSubject(), options)
        if (verdict === 'failed') failed.push(caseId)
      }
      failuresOf.set(id, failed)
      expect(failed.length, 'it is caught').toBeGreaterThan(0)
      expect(failed.length / cases.length, failed.join(' ')).toBeLessThanOrEqual(shareMax)
    })
  }
})

test('every case is guarded by a subtle one', () => {
  const guarded = new Set<string>()
  for (const failed of failuresOf.values()) {
    if (failed.length / cases.length <= shareMax) for (const id of failed) guarded.add(id)
  }
  expect(cases.map(({ id }) => id).filter((id) => !guarded.has(id))).toEqual([])
})
