/** The conformance suite in workerd, the runtime of Cloudflare Workers, from its npm package. */
import { spawn } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'

const workerd = join(
  realpathSync(`${import.meta.dirname}/../node_modules/workerd`),
  `../@cloudflare/workerd-${process.platform}-${process.arch === 'x64' ? '64' : 'arm64'}/bin/workerd`,
)

const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["nodejs_compat"],
);
`

test('workerd keeps every promise of memory', { timeout: 600_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-workerd-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  await build({
    stdin: {
      contents: "export { worker as default } from './worker.ts'",
      resolveDir: import.meta.dirname,
    },
    outfile: join(folder, 'worker.js'),
    bundle: true,
    format: 'esm',
    target: 'es2023',
    conditions: ['sluice-source'],
    // There is no SQLite here, and the suite does without.
    external: ['node:*', '*/sqlite-witness.ts'],
  })
  writeFileSync(join(folder, 'config.capnp'), config)
  const args = ['serve', join(folder, 'config.capnp'), '--control-fd=1']
  const child = spawn(workerd, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  // It says on which port it listens.
  const lines = createInterface({ input: child.stdout })
  let port = 0
  for await (const line of lines) {
    const event = JSON.parse(line) as { readonly event: string; readonly port?: number }
    if (event.event !== 'listen') continue
    port = event.port ?? 0
    break
  }
  const response = await fetch(`http://127.0.0.1:${port}/`)
  expect(await response.text()).toMatch(/^\d{3} passed, 0 failed, \d+ skipped$/)
})
