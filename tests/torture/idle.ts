import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { idleWindow } from '../support/idle/idle-window.ts'

/** The most of a core, in hundredths, that a process may take while it waits. */
const cpuMax = 1

/**
 * What 1, 2 and 4 processes do that wait on one store, for `--seconds=60`. First `--quiet=65` seconds
 * pass: SQLite is looked at every 5 ms in the minute after a change.
 */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '60' },
      quiet: { type: 'string', default: '65' },
    },
  })
  const seconds = Number(values.seconds)
  const quietMs = Number(values.quiet) * 1_000
  const { groups, postgresWrites } = await idleWindow(seconds * 1_000, [1, 2, 4], quietMs)
  const beats = Math.ceil(seconds / 10)
  let tooMuch = 0
  console.log(`${seconds} s, at most ${beats} calls and writes of each process`)
  for (const { store, reports, statements } of groups) {
    for (const { calls, cpuMs, syncs } of reports) {
      const sum = Object.values(calls).reduce((total, count) => total + count, 0)
      const cpu = cpuMs / (seconds * 10)
      const said = Object.entries(calls).map(([verb, count]) => `${count} ${verb}`)
      console.log(
        `${store}, ${reports.length} processes: ${said.join(', ') || 'no calls'}; ${syncs} syncs; ` +
          `${cpu.toFixed(2)} % of a core${store === 'postgres' ? `; ${statements} statements of all` : ''}`,
      )
      if (sum > beats || syncs > beats || cpu > cpuMax) tooMuch += 1
    }
  }
  console.log(`postgres: ${postgresWrites} transactions wrote something`)
  assert.equal(tooMuch, 0, `${tooMuch} processes did more than an idle process may`)
}
