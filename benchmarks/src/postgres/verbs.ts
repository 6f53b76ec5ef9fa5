import { randomUUID } from 'node:crypto'
import { postgresDriver } from '../../../packages/postgres/src/index.ts'
import { serverCpuUs } from './cpu-time.ts'
import { rawAddMany, rawClaim, rawRemove, rawTable } from './raw-table.ts'
import type { Server } from './server.ts'
import { batchesOf, record, type Samples } from './turns.ts'

const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
const addBatch = 1_000
const batch = 500

interface Claimed {
  readonly key: string
  readonly token: number | string
}

/** The verbs of one side, each for a batch. */
interface Side {
  readonly table: string
  add(keys: readonly string[]): Promise<unknown>
  claim(): Promise<readonly Claimed[]>
  finish(claimed: readonly Claimed[]): Promise<unknown>
}

async function sides(server: Server): Promise<Readonly<Record<string, Side>>> {
  await server.sql(rawTable)
  const pool = server.pool(1)
  const driver = postgresDriver({ connectionString: server.url, poolSize: 1 })
  await driver.open({})
  const request = { limit: batch, holder: 'a holder with a name', leaseMs: 600_000 }
  return {
    raw: {
      table: 'raw.jobs',
      add: (keys) => rawAddMany(pool, keys),
      claim: () => rawClaim(pool, batch),
      finish: (claimed) => rawRemove(pool, claimed as readonly { key: string; token: string }[]),
    },
    driver: {
      table: 'sluice.keys',
      async add(keys) {
        const asks = keys.map((key) => ({ key, item: undefined, priority: 0, delayMs: 0 }))
        await driver.add('q', asks, options)
      },
      claim: async () => (await driver.claim('q', { ...request, claimId: randomUUID() })).claims,
      async finish(claimed) {
        const done = claimed.map(
          ({ key, token }) => ({ as: 'done', key, token: Number(token), forget: true }) as const,
        )
        await driver.finish('q', done, options)
      },
    },
  }
}

/**
 * What client and server compute for each verb, in microseconds a key: one batch at a time, so that
 * nothing waits. All keys are added, then all are claimed, then all are finished.
 */
export async function verbs(
  server: Server,
  keys: readonly string[],
  rounds: number,
): Promise<Samples> {
  const samples: Samples = {}
  const all = Object.entries(await sides(server))
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, side] of all) {
      await server.sql(`truncate ${side.table}`)
      const measure = async (verb: string, work: () => Promise<void>): Promise<void> => {
        await server.sql('checkpoint')
        const [serverBefore, clientBefore] = [serverCpuUs(), process.cpuUsage()]
        await work()
        const client = process.cpuUsage(clientBefore)
        const figures = {
          server: (serverCpuUs() - serverBefore) / keys.length,
          client: (client.user + client.system) / keys.length,
        }
        // The first round pays for connections, and for what is not compiled yet.
        if (round > 0) record(samples, `${verb}, ${name}`, figures)
      }
      await measure('add', async () => {
        for (const some of batchesOf(keys, addBatch)) await side.add(some)
      })
      const claimed: (readonly Claimed[])[] = []
      await measure('claim', async () => {
        for (;;) {
          const some = await side.claim()
          if (some.length === 0) return
          claimed.push(some)
        }
      })
      await measure('finish', async () => {
        for (const some of claimed) await side.finish(some)
      })
    }
  }
  return samples
}
