import { parseArgs } from 'node:util'
import { checkMet, runWithFaults } from '../support/witness/fault-run.ts'

/**
 * Processes that work while they are killed and stopped, and while their store is cut off, full, or
 * crashes: `--store=sqlite`, `postgres` or `redis` (default: all), `--seconds=60`, `--seed=1`,
 * `--only=kill,disk full` (parts of names). A witness outside the store says what they did.
 */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      store: { type: 'string' },
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      only: { type: 'string' },
    },
  })
  const { seed, seconds, only } = values
  const stores = (['sqlite', 'postgres', 'redis'] as const).filter(
    (store) => values.store === undefined || values.store === store,
  )
  for (const store of stores) {
    const { met, problems } = await runWithFaults({
      store,
      seed: Number(seed),
      seconds: Number(seconds),
      only: only?.split(','),
    })
    console.log(`${store}, ${seconds} s, seed ${seed}:`, met)
    if (problems.length > 0) {
      const first = problems.slice(0, 20).join('\n')
      console.error(`replay: npm run torture -- faults --store=${store} --seed=${seed}`)
      throw new Error(`${problems.length} problems:\n${first}`)
    }
    checkMet(met)
  }
}
