import { parseArgs } from 'node:util'
import type { CreateSubject } from '@sluice/conformance'
import { differential, sightsOfSize } from '../support/differential/differential.ts'
import { localSubjects } from '../support/differential/local-subjects.ts'
import {
  type SubjectServer,
  startClusterSubjects,
  startRedisSubjects,
} from '../support/differential/redis-subjects.ts'
import { startPostgres } from '../support/stores/postgres-server.ts'

/** The stores that need a server. */
const servers: Readonly<Record<string, () => Promise<SubjectServer>>> = {
  postgres: startPostgres,
  redis: startRedisSubjects,
  'redis-cluster': () => startClusterSubjects(false),
  'redis-slot': () => startClusterSubjects(true),
}

/**
 * Every verb of every driver against the model, with batches up to the limits: `--store=memory`,
 * `direct`, `sqlite`, `postgres`, `redis`, `redis-cluster` or `redis-slot` (default: all), `--runs=20`, `--steps=400`, `--seed=1`.
 */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      store: { type: 'string' },
      runs: { type: 'string', default: '20' },
      steps: { type: 'string', default: '400' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  })
  const first = Number(values.seed)
  const stores =
    values.store === undefined
      ? [...Object.keys(localSubjects), ...Object.keys(servers)]
      : [values.store]
  for (const store of stores) {
    const server = await servers[store]?.()
    const create = server?.create ?? (localSubjects as Record<string, CreateSubject>)[store]
    if (create === undefined) throw new Error(`there is no store "${store}"`)
    try {
      const met = new Map<string, number>()
      for (let seed = first; seed < first + Number(values.runs); seed += 1) {
        const replay = `npm run torture -- differential --store=${store} --runs=1 --steps=${values.steps} --seed=${seed}`
        try {
          const seen = await differential(create, { seed, steps: Number(values.steps) })
          for (const [what, count] of seen) met.set(what, (met.get(what) ?? 0) + count)
        } catch (error) {
          console.error(`replay: ${replay}`)
          throw error
        }
      }
      console.log(`${store}, ${values.runs} runs from seed ${first}:`, Object.fromEntries(met))
      const missing = sightsOfSize.filter((sight) => !met.has(sight))
      if (missing.length > 0) throw new Error(`never met: ${missing.join('; ')}`)
    } finally {
      await server?.stop()
    }
  }
}
