import type { RedisProcess } from '../../../tools/test-redis/src/index.ts'
import { spreadOf, written } from '../stats.ts'
import { askOptions, fill, openStore } from './store.ts'

const claimed = 100

/** What a claim and a finish of 100 keys have the server compute, by the number of keys behind them. */
export async function printDepth(
  server: RedisProcess,
  depth: number,
  rounds: number,
): Promise<void> {
  const store = await openStore(server)
  const depths = [1_000, depth]
  for (const size of depths) {
    await fill(store, `q${size}`, size, { prefix: 'ready-object', priority: 0 })
    await fill(store, `q${size}`, size, { prefix: 'delayed-object', delayMs: 86_400_000 })
  }
  const samples = new Map<number, number[]>(depths.map((size) => [size, []]))
  for (let round = 0; round <= rounds * 4; round += 1) {
    for (const size of depths) {
      const queue = `q${size}`
      const before = await server.cpuMs()
      for (let nth = 0; nth < 20; nth += 1) {
        await fill(store, queue, claimed, { prefix: `mine-${round}-${nth}`, priority: 9 })
        const request = { limit: claimed, holder: 'h', claimId: `${round} ${nth}`, leaseMs: 30_000 }
        const { claims } = await store.claim(queue, request)
        const finishes = claims.map(
          ({ key, token }) => ({ as: 'done', key, token, forget: true }) as const,
        )
        await store.finish(queue, finishes, askOptions)
      }
      const us = (1_000 * ((await server.cpuMs()) - before)) / (20 * claimed)
      if (round > 0) samples.get(size)?.push(us)
    }
  }
  console.log('\nadding, claiming and finishing 100 keys, by the number of keys behind them\n')
  console.log('| ready and as many delayed | server, us of CPU a key |')
  console.log('| --- | --- |')
  for (const [size, own] of samples) console.log(`| ${size} | ${written(spreadOf(own), 1)} |`)
  const [small = [], large = []] = samples.values()
  const ratio = spreadOf(large).median / spreadOf(small).median
  console.log(`\nratio of the medians: ${ratio.toFixed(2)}`)
  await store.close()
  await server.command('FLUSHALL')
}
