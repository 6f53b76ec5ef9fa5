import { allCases, type CreateSubject, throughDirect } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { sqliteDriver } from '@sluice/sqlite'
import { emptyFile } from '../../support/stores/empty-file.ts'

/** `SLUICE_TORTURE=1` searches for as long as it takes. */
const isTorture = process.env['SLUICE_TORTURE'] === '1'

const searches = allCases.filter(({ id }) => /^(model|histories)\./.test(id))

/** The cases that search, for longer than the examination of one driver can wait. */
function search(
  name: string,
  create: CreateSubject,
  runs: { readonly usual: number; readonly torture: number },
  leaseMs?: number,
): void {
  examine(name, create, {
    cases: searches,
    timeoutMs: 180_000,
    chance: {
      modelRuns: isTorture ? runs.torture : runs.usual,
      modelSteps: 100,
      histories: isTorture ? 1_000 : 25,
    },
    ...(leaseMs !== undefined && { leaseMs }),
  })
}

search('memory', () => ({ driver: memoryDriver(), clock: fakeClock() }), {
  usual: 1_000,
  torture: 50_000,
})

search(
  'memory, through its direct queue',
  () => ({ driver: throughDirect(memoryDriver()), clock: fakeClock() }),
  { usual: 250, torture: 20_000 },
  Infinity,
)

search(
  'SQLite, a file',
  () => {
    const file = emptyFile()
    const make = () => sqliteDriver({ file, durability: 'process' })
    return { driver: make(), clock: fakeClock(), restart: make, peer: make }
  },
  { usual: 250, torture: 20_000 },
)
