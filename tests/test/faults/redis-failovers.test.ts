import assert from 'node:assert/strict'
import { hasRedis } from '@sluice/test-redis'
import { describe, test } from 'vitest'
import {
  type FailoverRunFigures,
  failoverProblems,
  failoverRun,
} from '../../support/failovers/failover-run.ts'

const runsMax = 5

/**
 * A machine that holds servers up for longer than `timeoutMs` makes them replace primaries that live,
 * and one that holds the processes up leaves no writes to be lost.
 */
function saysNothing(figures: FailoverRunFigures): boolean {
  return figures.unaskedFailovers > 0 || figures.lostAddsOfKilled + figures.runsAgain === 0
}

// `npm run torture -- redis-failovers` makes hundreds of failovers, of every kind.
describe.skipIf(!hasRedis)('failovers that lose the last writes', () => {
  test('two in a row: every acknowledged add runs, no crash is counted, and tokens rise', {
    timeout: 900_000,
  }, async () => {
    const run = () =>
      failoverRun({
        kind: 'cluster',
        failovers: 2,
        stoppedMs: 300,
        timeoutMs: 1_000,
        replicas: 0,
        keysPerSecond: 1_000,
        // A process that is held up keeps its keys.
        leaseMs: 30_000,
      })
    let figures = await run()
    for (let runs = 1; runs < runsMax && saysNothing(figures); runs += 1) figures = await run()
    assert.deepEqual(failoverProblems(figures), [], JSON.stringify(figures))
    // Writes were lost: adds of processes that were killed, or finishes, whose keys ran again.
    assert.ok(figures.lostAddsOfKilled + figures.runsAgain > 0, JSON.stringify(figures))
  })
})
