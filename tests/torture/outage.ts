import { parseArgs } from 'node:util'
import { allTroubles } from '../support/outage/all-troubles.ts'
import { outageFaults } from '../support/outage/outage.ts'

/** From the end of the trouble to the first run and the first accepted add. */
const ruleMs = 2_000

function told(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

/** Stores in trouble, for `--seconds=1,20`, and how soon processes are back: a table. */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { seconds: { type: 'string', default: '1,20' } },
  })
  const faults: string[] = []
  for (const seconds of values.seconds.split(',').map(Number)) {
    const reports = await allTroubles(seconds * 1_000)
    console.log(`${seconds} s of trouble, per process:`)
    console.table(
      reports.map((report) => ({
        trouble: report.name,
        'attempts/s': (report.attempts / seconds).toFixed(1),
        'connections/s': (report.connections / seconds).toFixed(1),
        'first run ms': report.firstRunMs ?? 'none',
        'first add ms': report.firstAddMs ?? 'none',
        'leases lost': report.lostLeases,
        '% of a core': (report.cpuMs / (seconds * 10)).toFixed(1),
        calls: told(report.calls),
        errors: told(report.codes),
      })),
    )
    faults.push(
      ...reports
        .flatMap((report) => outageFaults(report, ruleMs))
        .map((fault) => `${seconds} s: ${fault}`),
    )
  }
  if (faults.length > 0) throw new Error(faults.join('\n'))
}
