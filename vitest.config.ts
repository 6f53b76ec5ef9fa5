import { existsSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = import.meta.dirname

// Tests read the sources: no build is needed first, and a failure points at the line that was
// written. Both lists are named, because vitest resolves for a server and for a browser apart.
const conditions = ['sluice-source', 'node', 'development|production', 'default']

const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['sluice-source', 'node', 'default'] } },
}

/** The free memory, in bytes, from which on the files of tests are kept there. */
const roomMin = 4 * 1024 ** 3

// Thousands of tests make a store of their own, and each store waits for the disk several times.
// What must survive a power cut is tested by cuts that record every sync, wherever the files are.
function scratchFolder(): string {
  const { TMPDIR } = process.env
  if (TMPDIR !== undefined) return TMPDIR
  const memory = '/dev/shm'
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= roomMin ? memory : tmpdir()
}

/** How many files the compile cache may hold. A run adds some for programs that it writes itself. */
const cachedMax = 20_000

function compileCache(): string {
  const folder = `${root}/node_modules/.cache/node-compile`
  const isFull =
    existsSync(folder) &&
    readdirSync(folder).some((version) => readdirSync(`${folder}/${version}`).length > cachedMax)
  if (isFull) rmSync(folder, { recursive: true, force: true })
  return folder
}

const env = { TMPDIR: scratchFolder() }

// Workers and the programs that tests start inherit it. Loading the sources of a driver, types
// stripped, costs a new process 0.35 s of processor time without the cache, 0.1 s with it.
process.env['NODE_COMPILE_CACHE'] ??= compileCache()

/** Parts of the paths of long files that compute, or let a server or a browser compute, all the time. */
const computing = [
  'packages/postgres/test/conformance/conformance',
  'packages/sqlite/test/conformance.test',
  '.browser.test',
]

/** Parts of the paths of files that wait most of the time: for servers, leases and other processes. */
const waiting = ['apps/', 'examples/operator/', 'packages/redis/', 'tests/test/']

/** Of the other files, those that start first. */
const first = ['tools/doctest/', 'packages/postgres/', 'packages/sqlite/']

/** Where a file stands in a list of parts of paths; -1 if it has none of them. */
function placeIn(parts: readonly string[], { moduleId }: TestSpecification): number {
  return parts.findIndex((part) => moduleId.includes(part))
}

/**
 * Files that wait are spread among those that compute, so that some of each run at any time. Of the others, the
 * projects that share processes come last: short files keep all workers busy to the end. By default the
 * projects come in the order of their names.
 */
class Spread extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const having = (parts: readonly string[]): TestSpecification[] =>
      sorted
        .filter((file) => placeIn(parts, file) !== -1)
        .sort((a, b) => placeIn(parts, a) - placeIn(parts, b))
    const long = having(computing)
    const slow = having(waiting)
    // Two more that compute at first: of those that wait, the longest come first.
    const start = long.splice(0, 2)
    const each = Math.ceil(slow.length / Math.max(1, long.length))
    for (const file of long) start.push(file, ...slow.splice(0, each))
    start.push(...slow)
    const rank = (file: TestSpecification): number => {
      const place = placeIn(first, file)
      if (place !== -1) return place
      return file.project.config.isolate ? first.length : first.length + 1
    }
    const rest = sorted.filter((file) => !start.includes(file))
    return [...start, ...rest.sort((a, b) => rank(a) - rank(b))]
  }
}

function foldersOf(parent: string): string[] {
  if (!existsSync(`${root}/${parent}`)) return []
  return readdirSync(`${root}/${parent}`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(`${root}/${parent}/${entry.name}/test`))
    .map((entry) => `${parent}/${entry.name}`)
}

/**
 * Projects of many short files, which share their processes: a new one for each file takes longer than
 * most of these files. Nothing of a file may stay behind in modules, in `process` or in globals.
 */
const sharing = new Set([
  ...['backoff', 'cli', 'conformance', 'core', 'dashboard'].map((name) => `packages/${name}`),
  ...['limiters', 'metrics', 'postgres', 'queue', 'redis', 'sqlite'].map(
    (name) => `packages/${name}`,
  ),
  ...['embed-sql', 'needs'].map((name) => `tools/${name}`),
  ...['scripts', 'tests'],
])

/**
 * The collector begins later: a heap that starts small is collected each time it has grown a little, which
 * takes a seventh of the processor time of tests that compute.
 */
const execArgv = ['--initial-old-space-size=256', '--min-semi-space-size=16']

function project(folder: string) {
  return {
    ...shared,
    root: `${root}/${folder}`,
    test: {
      name: folder.replace('packages/', ''),
      include: ['test/**/*.test.{ts,mjs}'],
      env,
      execArgv,
      isolate: !sharing.has(folder),
      // Nothing waits for these; they only end what hangs, also on a machine that is busy.
      testTimeout: 180_000,
      hookTimeout: 240_000,
      expect: { poll: { timeout: 120_000 } },
    },
  }
}

export default defineConfig({
  ...shared,
  test: {
    projects: [
      ...['packages', 'apps', 'examples', 'tools'].flatMap(foldersOf),
      'scripts',
      'tests',
    ].map(project),
    passWithNoTests: false,
    sequence: { sequencer: Spread },
    // Half of the tests wait for databases, disks and other processes, so there are three workers more
    // than there are cores.
    maxWorkers: availableParallelism() + 3,
    reporters: ['default', ['json', { outputFile: `${root}/.reports/vitest.json` }]],
  },
})
