import assert from 'node:assert/strict'
import { hasRedis } from '@sluice/test-redis'
import { describe, test } from 'vitest'
import { failoverProblems, failoverRun } from '../../support/failovers/failover-run.ts'

// `npm run torture -- redis-failovers` makes hundreds of failovers, of every kind.
describe.skipIf(!hasRedis)('failovers that lose the last writes', () => {
  test('two in a row: every acknowledged add runs, no crash is counted, and tokens rise', {
    timeout: 900_000,
  }, async () => {
    const figures = await failoverRun({
      kind: 'cluster',
      failovers: 2,
      stoppedMs: 300,
      timeoutMs: 1_000,
      replicas: 0,
      keysPerSecond: 1_000,
      // A process that is held up keeps its keys.
      leaseMs: 30_000,
    })
    assert.deepEqual(failoverProblems(figures), [], JSON.stringify(figures))
    // Writes were lost: adds of processes that were killed, or finishes, whose keys ran again.
    assert.ok(figures.lostAddsOfKilled + figures.runsAgain > 0, JSON.stringify(figures))
  })
})
