import { parseArgs } from 'node:util'
import { wrongCalls } from '../support/wrong-calls/wrong-calls.ts'

/** Everything that users can call, called wrongly: `--rounds=300`, `--seed=1`. */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '300' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  })
  const unhandled: unknown[] = []
  process.on('unhandledRejection', (error) => unhandled.push(error))
  const seed = Number(values.seed)
  const report = await wrongCalls({ seed, rounds: Number(values.rounds) })
  const { calls, refused, targets, problems } = report
  console.log(`seed ${seed}: ${calls} calls of ${targets} functions, ${refused} refused`)
  const replay = `npm run torture -- wrong-calls --rounds=${values.rounds} --seed=${seed}`
  if (unhandled.length > 0) console.error(unhandled)
  if (problems.length + unhandled.length > 0) throw new Error(`${problems.join('\n')}\n${replay}`)
}
