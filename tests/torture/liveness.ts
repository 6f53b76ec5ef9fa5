import { parseArgs } from 'node:util'
import { memoryDriver } from '@sluice/memory'
import { liveness, sightsOfTrouble } from '../support/liveness/liveness.ts'

/** How many runs go on at the same time; most of a run waits. */
const atOnce = 10

/**
 * Queues on a store that refuses calls, loses them and is late: `--runs=200`, `--actions=120`,
 * `--seed=1`.
 */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      runs: { type: 'string', default: '200' },
      actions: { type: 'string', default: '120' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  })
  const first = Number(values.seed)
  const end = first + Number(values.runs)
  const actions = Number(values.actions)
  const met = new Map<string, number>()
  let failed = 0
  for (let next = first; next < end; next += atOnce) {
    const seeds = Array.from({ length: Math.min(atOnce, end - next) }, (_, at) => next + at)
    await Promise.all(
      seeds.map(async (seed) => {
        try {
          const seen = await liveness(memoryDriver, { seed, actions })
          for (const [what, count] of seen) met.set(what, (met.get(what) ?? 0) + count)
        } catch (error) {
          failed += 1
          console.error(error)
          console.error(
            `replay: npm run torture -- liveness --runs=1 --actions=${actions} --seed=${seed}`,
          )
        }
      }),
    )
  }
  console.log(`${values.runs} runs from seed ${first}:`, Object.fromEntries(met))
  if (failed > 0) throw new Error(`${failed} runs failed`)
  const missing = sightsOfTrouble.filter((sight) => !met.has(sight))
  if (missing.length > 0) throw new Error(`never met: ${missing.join('; ')}`)
}
