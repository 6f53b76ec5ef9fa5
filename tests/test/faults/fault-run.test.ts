import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { checkMet, runWithFaults } from '../../support/witness/fault-run.ts'

// Longer, and with all faults: `npm run torture -- faults`.

describe.concurrent('processes that work while faults come lose nothing', () => {
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
