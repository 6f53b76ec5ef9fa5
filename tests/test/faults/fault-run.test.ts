import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { checkMet, runWithFaults } from '../../support/witness/fault-run.ts'

// Longer, and with all faults: `npm run torture -- faults`.

// Processes start, are killed and start again, each one slowly on a machine that is held up: it ends what hangs.
const patience = { timeout: 600_000 }

describe.concurrent('processes that work while faults come lose nothing', patience, () => {
  test.for([
    { store: 'sqlite', only: ['kill', 'pause', 'SQLite, disk full'] },
    { store: 'postgres', only: ['kill', 'cut connections', 'server crash'] },
    { store: 'redis', only: ['kill', 'server'] },
  ] as const)('$store', async ({ store, only }) => {
    const { met, problems } = await runWithFaults({ store, only, seed: 1, seconds: 6 })
    assert.equal(problems.length, 0, problems.join('; '))
    checkMet(met)
  })
})
