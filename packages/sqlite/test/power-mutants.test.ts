/** The driver with one line changed, so that it syncs less: the suite sees it after a power cut. */
import { join } from 'node:path'
import { allCases, type Case, runCase } from '@sluice/conformance'
import { type Change, changedCopy } from '@sluice/needs/changed-copy'
import { describe, expect, onTestFinished, test } from 'vitest'
import { canCutPower, onDisk } from './power-cut.ts'

const served = new URL('children/served-copy.ts', import.meta.url)

const pragma = "durability === 'power' ? 'full' : 'normal'"

const changes: readonly (Change & { readonly caughtBy: string })[] = [
  {
    id: 'nothing-synced',
    file: 'connection/durability.ts',
    from: pragma,
    to: "'off'",
    caughtBy: 'power.add',
  },
  {
    id: 'synced-at-checkpoints',
    file: 'connection/durability.ts',
    from: pragma,
    to: "'normal'",
    caughtBy: 'power.batch',
  },
]

describe.skipIf(!canCutPower)('a driver that syncs less is seen by the suite', () => {
  for (const change of changes) {
    test(`${change.id}: ${change.caughtBy}`, async () => {
      const { module, remove } = changedCopy(join(import.meta.dirname, '..'), change)
      onTestFinished(remove)
      const chosen = allCases.find(({ id }) => id === change.caughtBy) as Case
      const { verdict } = await runCase(chosen, () => onDisk(served, [module]))
      expect(verdict).toBe('failed')
    })
  }
})
