/**
 * One line of our drivers changed at a time: each change is seen by the suite that every driver is
 * examined with, and not only by the driver's own tests.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allCases, type Case, type CreateSubject, runCase } from '@sluice/conformance'
import { forkDriver } from '@sluice/conformance/other-process'
import type { Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { changedCopy } from '@sluice/needs/changed-copy'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type DriverMutant, driverMutants } from '../../support/mutants/drivers/driver-mutants.ts'
import { readersMutants } from '../../support/mutants/drivers/readers-mutants.ts'

const served = new URL('../../support/programs/served-copy.ts', import.meta.url)

async function subjectsOf(mutant: DriverMutant): Promise<CreateSubject> {
  const folder = join(import.meta.dirname, '..', '..', '..', 'packages', mutant.driver)
  const { module: path, remove } = changedCopy(folder, mutant)
  onTestFinished(remove)
  const module = (await import(path)) as {
    memoryDriver(): Driver
    sqliteDriver(options: { readonly file: string }): Driver
  }
  if (mutant.driver === 'memory') {
    return () => ({ driver: module.memoryDriver(), clock: fakeClock() })
  }
  return () => {
    const scratch = mkdtempSync(join(tmpdir(), 'sluice-mutant-'))
    const file = join(scratch, 'queue.db')
    const make = () => module.sqliteDriver({ file })
    return {
      driver: make(),
      clock: fakeClock(),
      restart: make,
      peer: make,
      otherProcess: () =>
        forkDriver(served, [path, file], {
          execArgv: ['--conditions=sluice-source', '--disable-warning=ExperimentalWarning'],
        }),
      dispose: () => rmSync(scratch, { recursive: true, force: true }),
    }
  }
}

describe('a driver with one line changed is seen by the suite', () => {
  for (const mutant of [...driverMutants, ...readersMutants]) {
    const { id, caughtBy } = mutant
    test(`${id}: ${caughtBy}`, async () => {
      const create = await subjectsOf(mutant)
      const chosen = allCases.find((each) => each.id === caughtBy) as Case
      const { verdict } = await runCase(chosen, create, { hintMs: 500, timeoutMs: 20_000 })
      expect(verdict).toBe('failed')
    })
  }
})
