import type { RedisProcess } from '../../../tools/test-redis/src/index.ts'
import { spreadOf, written } from '../stats.ts'

/** Figures of one side in one round. */
export interface Sample {
  readonly perMs: number
  readonly serverUs: number
  readonly clientUs: number
}

/** Runs `work` for `count` keys, and gives time and CPU time for each. */
export async function measured(
  server: RedisProcess,
  count: number,
  work: () => Promise<unknown>,
): Promise<Sample> {
  const serverBefore = await server.cpuMs()
  const clientBefore = process.cpuUsage()
  const startedAt = performance.now()
  await work()
  const ms = performance.now() - startedAt
  const { user, system } = process.cpuUsage(clientBefore)
  const serverMs = (await server.cpuMs()) - serverBefore
  return {
    perMs: count / ms,
    serverUs: (1_000 * serverMs) / count,
    clientUs: (user + system) / count,
  }
}

/** Prints a table of sides, with the ratio of the first to each other. */
export function printSides(samples: ReadonlyMap<string, readonly Sample[]>): void {
  const [first = []] = samples.values()
  console.log(
    '| side | thousand keys a second | the first is faster by | CPU us a key: server | client |',
  )
  console.log('| --- | --- | --- | --- | --- |')
  for (const [side, own] of samples) {
    const spread = (of: (sample: Sample) => number): string => written(spreadOf(own.map(of)), 1)
    // Round by round, since what disturbs the machine lasts longer than a turn.
    const ratios = own.map(({ perMs }, round) => (first[round]?.perMs ?? 0) / perMs)
    const figures = [
      spread(({ perMs }) => perMs),
      own === first ? '' : written(spreadOf(ratios), 1),
      spread(({ serverUs }) => serverUs),
      spread(({ clientUs }) => clientUs),
    ]
    console.log(`| ${side} | ${figures.join(' | ')} |`)
  }
}
