/** Programs that are bundled into one file of CommonJS, as for AWS Lambda. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { bundleCommonJs } from '../src/bundle.ts'
import { entryPoints } from '../src/entry-points.ts'

interface Module {
  exports: Record<string, unknown>
}

/** Runs the bundle as a file beside the manifest, where the dependencies of the package are found. */
async function load(program: string, manifest: string): Promise<Module['exports']> {
  const code = await bundleCommonJs(program)
  const module: Module = { exports: {} }
  const run = new Function('module', 'exports', 'require', '__filename', code)
  run(module, module.exports, createRequire(manifest), join(manifest, '../bundle.cjs'))
  return module.exports
}

describe('each entry point loads', () => {
  for (const { name, manifest } of entryPoints) {
    // It imports a test runner, which is an ES module only.
    test.skipIf(name === '@sluice/conformance/vitest')(name, async () => {
      const loaded = await load(`export * from '${name}'`, manifest)
      assert.ok(Object.keys(loaded).length > 0)
    })
  }
})

test('the driver on SQLite finds its library beside the bundle', async () => {
  const program = `
    import { mkdtempSync, rmSync } from 'node:fs'
    import { tmpdir } from 'node:os'
    import { join } from 'node:path'
    import { createQueue } from 'sluice'
    import { sqliteDriver } from '@sluice/sqlite'

    export async function addTwice() {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-bundle-'))
      const driver = sqliteDriver({ file: join(folder, 'queue.db'), library: 'better-sqlite3' })
      const queue = createQueue({ name: 'orders', driver })
      const outcomes = [await queue.add('a'), await queue.add('a')]
      await queue.close()
      rmSync(folder, { recursive: true })
      return outcomes
    }`
  const sqlite = entryPoints.find(({ name }) => name === '@sluice/sqlite')
  assert.ok(sqlite)
  const { addTwice } = await load(program, sqlite.manifest)
  assert.deepEqual(await (addTwice as () => Promise<string[]>)(), ['added', 'unchanged'])
})

test('the dashboard says that its page is not in the bundle', async () => {
  const program = `
    import { createDashboard } from '@sluice/dashboard'
    import { memoryDriver } from 'sluice'

    export async function askForPage() {
      const dashboard = createDashboard({ driver: memoryDriver() })
      const { status } = await dashboard.fetch(new Request('http://localhost/'))
      await dashboard.close()
      return status
    }`
  const dashboard = entryPoints.find(({ name }) => name === '@sluice/dashboard')
  assert.ok(dashboard)
  const { askForPage } = await load(program, dashboard.manifest)
  assert.equal(await (askForPage as () => Promise<number>)(), 503)
})
