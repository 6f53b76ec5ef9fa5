/**
 * Several processes on one server: nothing is lost, nobody overlaps, nothing deadlocks.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { sharedServer } from '../support/shared-server.ts'
import { lostOf, mayFail, prepareWitness, type WorkloadReport } from '../support/workload.ts'

const adds = 50_000
const processes = 4

const server = sharedServer()

function runProcess(name: string): Promise<WorkloadReport> {
  const script = fileURLToPath(new URL('../children/workload-process.ts', import.meta.url))
  const child = fork(script, [server.url, name, String(adds / processes)], {
    execArgv: ['--experimental-strip-types', '--no-warnings', '--conditions=sluice-source'],
  })
  // Where one of them fails, the others would go on for ever.
  onTestFinished(() => void child.kill('SIGKILL'))
  return new Promise((resolve, reject) => {
    child.once('message', (report) => resolve(report as WorkloadReport))
    // Not its exit: that can be noticed before what it said last.
    child.once('disconnect', () => reject(new Error(`process ${name} ended without a report`)))
  })
}

test(`${processes} processes share ${adds} adds`, async () => {
  await prepareWitness(server.pool)
  const names = Array.from({ length: processes }, (_, i) => String.fromCharCode(97 + i))
  const reports = await Promise.all(names.map(runProcess))
  expect(lostOf(reports)).toEqual([])
  expect(reports.flatMap(({ overlaps }) => overlaps)).toEqual([])
  const { rows } = await server.pool.query(`select
    (select deadlocks::int from pg_stat_database where datname = current_database()) as deadlocks,
    (select count(*)::int from processes.keys) as keys`)
  expect(rows).toEqual([{ deadlocks: 0, keys: 0 }])
  // Otherwise this test would show less than it says.
  expect(reports.reduce((sum, { expired }) => sum + expired, 0)).toBeGreaterThan(0)
  const errors = reports.flatMap((report) => Object.keys(report.errors))
  expect(errors.filter((code) => !mayFail.has(code))).toEqual([])
}, 300_000)
