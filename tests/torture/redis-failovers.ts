import { parseArgs } from 'node:util'
import { failoverProblems, failoverRun } from '../support/failovers/failover-run.ts'

/**
 * Processes that add keys and work on them while the replica of a Redis stands still, its primary is
 * killed and the replica takes over: `--failovers=200`, `--kind=cluster` or `sentinel`,
 * `--stopped=700,20000` (ms that the replica stands still), `--timeout=1000,15000` (node timeout in
 * ms), `--mode=server,replicated`, `--lease=5000` (ms). Each combination is a line of the table.
 */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      failovers: { type: 'string', default: '200' },
      kind: { type: 'string', default: 'cluster' },
      stopped: { type: 'string', default: '700' },
      timeout: { type: 'string', default: '1000' },
      mode: { type: 'string', default: 'server,replicated' },
      rate: { type: 'string', default: '800' },
      lease: { type: 'string', default: '5000' },
    },
  })
  const numbers = (text: string): number[] => text.split(',').map(Number)
  const problems: string[] = []
  const table: object[] = []
  for (const mode of values.mode.split(',')) {
    for (const timeoutMs of numbers(values.timeout)) {
      for (const stoppedMs of numbers(values.stopped)) {
        const name = `${values.kind}, ${mode}, stopped ${stoppedMs} ms, timeout ${timeoutMs} ms`
        const figures = await failoverRun({
          kind: values.kind === 'sentinel' ? 'sentinel' : 'cluster',
          failovers: Number(values.failovers),
          stoppedMs,
          timeoutMs,
          replicas: mode === 'replicated' ? 1 : 0,
          keysPerSecond: Number(values.rate),
          leaseMs: Number(values.lease),
          onProgress: (text) => console.log(`${name}: ${text}`),
        })
        table.push({ run: name, failovers: values.failovers, ...figures })
        problems.push(...failoverProblems(figures).map((problem) => `${name}: ${problem}`))
      }
    }
  }
  console.table(table)
  if (problems.length > 0) throw new Error(problems.join('\n'))
}
