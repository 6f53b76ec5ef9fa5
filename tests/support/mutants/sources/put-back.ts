import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { isTest, type Run, type SourceEdit, type Test } from './source-mutant.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const preload = new URL('mutate.mjs', import.meta.url).href
const config = fileURLToPath(new URL('vitest.config.ts', import.meta.url))
const torture = fileURLToPath(new URL('../../../torture.ts', import.meta.url))
const vitest = new URL('node_modules/vitest/vitest.mjs', new URL('../../../', import.meta.url))
  .pathname

/** Where the temporary files of runs are: in memory, as those of the suite. */
const scratch = process.env['TMPDIR'] ?? (existsSync('/dev/shm') ? '/dev/shm' : tmpdir())

/** A mutant that makes a run hang is found, too. */
const runMsMax = 180_000

/** What a mutant may fill before it is ended; some loop, and keep what they loop over. */
const heapMb = 1_500

/** What has become of a run. One that says nothing about the sources is neither. */
export interface Outcome {
  readonly as: 'failed' | 'passed' | 'neither'
  /** The first line that says why. */
  readonly why: string
}

interface Ended {
  readonly code: number | null
  readonly hung: boolean
  readonly stderr: string
}

/** Runs a program with these edits, and with this folder for its temporary files. */
async function ended(
  edits: readonly SourceEdit[],
  args: readonly string[],
  folder: string,
): Promise<Ended> {
  const named = edits.map((edit) => ({ ...edit, file: root + edit.file }))
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|NODE_ENV$|TEST$|DEV$|PROD$)/.test(name),
    ),
  )
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    // In a group of its own, which ends with what it has started.
    detached: true,
    env: {
      ...env,
      TMPDIR: folder,
      NODE_OPTIONS: `--import=${preload} --max-old-space-size=${heapMb}`,
      SLUICE_MUTANT: JSON.stringify(named),
    },
  })
  const endGroup = () => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL')
    } catch {
      // Nothing of it is left.
    }
  }
  let [stderr, hung] = ['', false]
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk)
  })
  // real time: the run is given up after so long.
  const timer = setTimeout(() => {
    hung = true
    endGroup()
  }, runMsMax)
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  void exited.then(endGroup)
  await new Promise((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  return { code: await exited, hung, stderr }
}

function firstLine(text: string, pattern: RegExp): string {
  return (text.split('\n').find((line) => pattern.test(line)) ?? '').trim()
}

/** The part of the report of vitest that is read here. */
interface TestReport {
  readonly testResults: readonly {
    readonly message: string
    readonly assertionResults: readonly {
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

/** Runs a test of the suite with these edits; found is what an assertion of it says. */
async function testOutcome(
  edits: readonly SourceEdit[],
  { file, title }: Test,
  folder: string,
): Promise<Outcome> {
  const project = (file.split('/test/')[0] as string).replace('packages/', '')
  const outputFile = join(folder, 'report.json')
  const options = ['--config', config, '--project', project, '--reporter=json']
  const chosen = [`--testNamePattern=${title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`, file]
  const args = [vitest, 'run', ...options, `--outputFile=${outputFile}`, ...chosen]
  const { hung, stderr } = await ended(edits, args, folder)
  if (hung) return { as: 'failed', why: 'it did not end' }
  if (!existsSync(outputFile))
    return { as: 'neither', why: `no report: ${firstLine(stderr, /\S/)}` }
  const report = JSON.parse(readFileSync(outputFile, 'utf8')) as TestReport
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults)
  const failed = tests.find(({ status }) => status === 'failed')
  const messages = [
    ...report.testResults.map(({ message }) => message),
    ...(failed?.failureMessages ?? []),
  ].join('\n')
  const broken = firstLine(messages, /mutant is stale|SyntaxError/)
  if (broken !== '') return { as: 'neither', why: broken }
  if (failed !== undefined) return { as: 'failed', why: firstLine(messages, /\S/) }
  const passed = tests.filter(({ status }) => status === 'passed').length
  return passed > 0
    ? { as: 'passed', why: `${passed} tests passed` }
    : { as: 'neither', why: 'there is no such test' }
}

async function runOutcome(
  edits: readonly SourceEdit[],
  run: Run,
  folder: string,
): Promise<Outcome> {
  const flags = ['--conditions=sluice-source', '--disable-warning=ExperimentalWarning']
  const { code, hung, stderr } = await ended(edits, [...flags, torture, ...run.torture], folder)
  if (hung) return { as: 'failed', why: 'it did not end' }
  const stale = firstLine(stderr, /mutant is stale/)
  if (stale !== '') return { as: 'neither', why: stale }
  const { says } = run
  const lines = stderr.split('\n')
  const why = lines.find((line) =>
    says === undefined ? /Error:|Error \[|FATAL/.test(line) : line.includes(says),
  )
  const isFailed = code !== 0 && (says === undefined || why !== undefined)
  return { as: isFailed ? 'failed' : 'passed', why: why?.trim() ?? '' }
}

/** Runs what is to find a mutant, with these edits in the sources. */
export async function outcomeWith(
  edits: readonly SourceEdit[],
  finder: Run | Test,
): Promise<Outcome> {
  const folder = mkdtempSync(join(scratch, 'sluice-mutant-'))
  // A server that is started by root runs under another user.
  chmodSync(folder, 0o755)
  try {
    return isTest(finder)
      ? await testOutcome(edits, finder, folder)
      : await runOutcome(edits, finder, folder)
  } finally {
    // What was killed with its parent leaves files behind, and may be writing one.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}
