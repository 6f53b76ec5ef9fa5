import { defineConfig } from 'vitest/config'

const conditions = ['sluice-source', 'node', 'development|production', 'default']
const packages = `${import.meta.dirname}/../packages`
const source = (folder: string, file = 'index'): string => `${packages}/${folder}/src/${file}.ts`

// The packages are those of the repository, and the libraries those of this folder.
export default defineConfig({
  resolve: {
    conditions,
    alias: [
      // The same copy as the driver's: two in one process drop each other's locks.
      { find: 'better-sqlite3', replacement: `${packages}/sqlite/node_modules/better-sqlite3` },
      { find: /^sluice$/, replacement: source('queue') },
      { find: /^@sluice\/(postgres|sqlite|memory)$/, replacement: source('$1') },
      { find: '@sluice/redis', replacement: source('redis') },
      {
        find: '@sluice/test-postgres',
        replacement: `${packages}/../tools/test-postgres/src/index.ts`,
      },
      {
        find: '@sluice/test-redis',
        replacement: `${packages}/../tools/test-redis/src/index.ts`,
      },
    ],
  },
  ssr: { resolve: { conditions, externalConditions: ['sluice-source', 'node', 'default'] } },
  test: {
    include: ['*/*.test.ts'],
    // With another lockfile, Vitest empties a cache at its start: not that of tests that run meanwhile.
    fsModuleCachePath: `${import.meta.dirname}/node_modules/.vitest-cache`,
    // On two cores one file would run after the other, and most wait for other runtimes and servers.
    maxWorkers: 2,
    maxConcurrency: 2,
    // Nothing waits for these; they only end what hangs, also on a machine that is busy.
    testTimeout: 180_000,
    hookTimeout: 240_000,
  },
})
