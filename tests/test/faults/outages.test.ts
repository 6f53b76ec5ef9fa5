import assert from 'node:assert/strict'
import { test } from 'vitest'
import { allTroubles } from '../../support/outage/all-troubles.ts'
import { outageFaults } from '../../support/outage/outage.ts'

// Longer, and as a table: `npm run torture -- outage`.

const troubleMs = 5_000

/** The rule is 2 s, on a machine that has nothing else to do. */
const ruleMs = 3_500

test('a store in trouble is asked twice a second, and work goes on when it is well', async () => {
  const reports = await allTroubles(troubleMs)
  assert.deepEqual(
    reports.flatMap((report) => outageFaults(report, ruleMs)),
    [],
  )
}, 600_000)
