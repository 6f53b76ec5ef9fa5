/** Programs that are bundled into one ES module, beside files of their own. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, test } from 'vitest'
import { bundle } from '../src/bundle.ts'
import { entryPoints } from '../src/entry-points.ts'

/** What the program writes where its bundle is `path`, beside the files of the application. */
async function outputOf(program: string, path: string, of: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bundle-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const entryPoint = entryPoints.find(({ name }) => name === of)
  assert.ok(entryPoint)
  symlinkSync(join(entryPoint.manifest, '../node_modules'), join(folder, 'node_modules'))
  const { code } = await bundle(program, 'node')
  const files = {
    'package.json': '{ "name": "shop", "version": "7.8.9" }',
    'dist/client/index.html': '<!doctype html><title>the shop</title>',
    [path]: code,
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return execFileSync(process.execPath, [join(folder, path)], { encoding: 'utf8' })
}

for (const path of ['dist/server/server.mjs', 'build/server/server.mjs']) {
  test(`the dashboard does not take the page of the program for its own, in ${path}`, async () => {
    const program = `
      import { createDashboard } from '@sluice/dashboard'
      import { memoryDriver } from 'sluice'

      const dashboard = createDashboard({ driver: memoryDriver() })
      const answer = await dashboard.fetch(new Request('http://localhost/'))
      console.log(answer.status, (await answer.text()).includes('leave <code>@sluice/dashboard</code> out'))
      await dashboard.close()`
    assert.equal(await outputOf(program, path, '@sluice/dashboard'), '503 true\n')
  })
}

test('what is measured does not have the version of the program', async () => {
  const program = `
    import { metrics, trace } from '@opentelemetry/api'
    import { openTelemetryMetrics, openTelemetryTracing } from '@sluice/metrics/opentelemetry'

    const scopes = []
    const meter = metrics.getMeter('none')
    const tracer = trace.getTracer('none')
    metrics.setGlobalMeterProvider({ getMeter: (name, version) => (scopes.push([name, version]), meter) })
    trace.setGlobalTracerProvider({ getTracer: (name, version) => (scopes.push([name, version]), tracer) })
    openTelemetryMetrics()
    openTelemetryTracing()
    console.log(JSON.stringify(scopes))`
  const scopes = await outputOf(program, 'dist/server.mjs', '@sluice/metrics/opentelemetry')
  assert.deepEqual(JSON.parse(scopes), [
    ['@sluice/metrics', null],
    ['@sluice/metrics', null],
  ])
})
