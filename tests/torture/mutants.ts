import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'
import { type SourceMutant, sourceMutants } from '../support/mutants/mutants.ts'

const root = new URL('../../', import.meta.url)
const preload = new URL('../support/mutants/mutate.mjs', import.meta.url).href
const torture = new URL('../support/torture.ts', import.meta.url).pathname

/** A mutant that makes a run hang is found, too. */
const runMsMax = 180_000

/** What `mutate.mjs` exits with when a text is no longer found. */
const stale = 70

interface Outcome {
  readonly isFound: boolean
  readonly isStale: boolean
  /** The first line that says what was found. */
  readonly why: string
}

async function outcomeOf({ edits, run }: SourceMutant): Promise<Outcome> {
  const named = edits.map((edit) => ({ ...edit, file: new URL(edit.file, root).href }))
  const flags = ['--conditions=sluice-source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, torture, ...run], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      NODE_OPTIONS: `--import=${preload}`,
      SLUICE_MUTANT: JSON.stringify(named),
    },
  })
  let text = ''
  child.stderr?.on('data', (chunk) => {
    text += String(chunk)
  })
  // real time: the run is given up after so long.
  const timer = setTimeout(() => child.kill('SIGKILL'), runMsMax)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  clearTimeout(timer)
  const isStale = code === stale || text.includes('the mutant is stale')
  const why = text.split('\n').find((line) => /Error:|stale/.test(line)) ?? ''
  return { isFound: code !== 0 && !isStale, isStale, why: why.trim() }
}

/** Puts known defects back one at a time, and shows which run finds each: `--only=<part of a name>`. */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { only: { type: 'string', default: '' } } })
  const missed: string[] = []
  for (const mutant of sourceMutants.filter(({ name }) => name.includes(values.only))) {
    const { isFound, why } = await outcomeOf(mutant)
    console.log(
      `${isFound ? 'found ' : 'MISSED'} ${mutant.name}: ${mutant.run.join(' ')}\n    ${why}`,
    )
    if (!isFound) missed.push(mutant.name)
  }
  if (missed.length > 0) throw new Error(`not found: ${missed.join('; ')}`)
}
