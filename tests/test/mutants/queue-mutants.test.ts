import { type Case, modelSubject, queueCases, runCase } from '@sluice/conformance'
import { casesToSee, chooseGuards, everyPair, type Guards, guardsText } from '@sluice/needs/guards'
import { describe, expect, test } from 'vitest'
import { queueMutants } from '../../support/mutants/queues/all.ts'
import { broken } from '../../support/mutants/queues/broken-queues.ts'
import recorded from '../../support/mutants/queues/guards.json' with { type: 'json' }

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

/** Every pair that was seen: see @sluice/needs/guards. */
const guards: Guards = recorded

function casesFor(mutant: string): string[] {
  if (!everyPair) return casesToSee(guards, mutant)
  return cases.map(({ id }) => id).filter((id) => !isStoreError(id) || aboutErrors.has(mutant))
}

const failures = new Map<string, Map<string, number>>()

describe('every broken queue is caught, and is a subtle one', () => {
  for (const { id, title, breakage } of queueMutants) {
    test(`${id}: ${title}`, async () => {
      const failed = new Map<string, number>()
      const chosen = casesFor(id)
      for (const caseId of chosen) {
        // Made for each case, so that no memory of one gets into the next.
        const [each] = queueCases(broken(breakage())).filter((one) => one.id === caseId)
        const options = isStoreError(caseId)
          ? { timeoutMs: 10_000, hintMs: 1_000 }
          : { timeoutMs: 3_000, hintMs: 60 }
        const { verdict, ms } = await runCase(each as Case, () => modelSubject(), options)
        if (verdict === 'failed') failed.set(caseId, ms)
      }
      failures.set(id, failed)
      const ids = [...failed.keys()]
      expect(ids.length, 'it is caught').toBeGreaterThan(0)
      expect(ids.length / cases.length, ids.join(' ')).toBeLessThanOrEqual(shareMax)
      if (!everyPair) expect(ids, 'the cases that it guards fail').toEqual(chosen)
    })
  }
})

test('every case is guarded by a subtle one', async () => {
  const subtle = new Map([...failures].filter(([, { size }]) => size / cases.length <= shareMax))
  const found = everyPair ? chooseGuards(subtle, guards) : guards
  const known = new Set(queueMutants.map(({ id }) => id))
  const unguarded = cases.filter(({ id }) => !known.has(found.guardOf[id] ?? ''))
  expect(unguarded.map(({ id }) => id)).toEqual([])
  if (!everyPair) return
  await expect(guardsText(found)).toMatchFileSnapshot('../../support/mutants/queues/guards.json')
})
