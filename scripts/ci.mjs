// Runs every part of the examination, whatever the others say, and counts. Called by .ci/run.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { count } from './count.mjs'
import { root, say } from './toolbox.mjs'

const report = join(root, '.reports', 'vitest.json')
rmSync(report, { force: true })

const parts = [
  'test',
  'test:oldest',
  'test:mutants',
  'lint',
  'types',
  'check:package',
  'docs',
  'compat',
  'site:check',
]
const outcomes = []
for (const part of parts) {
  say(`=== ${part} ===`)
  const started = Date.now()
  const code = await npm('run', '--silent', part)
  outcomes.push({ part, code, minutes: (Date.now() - started) / 60_000 })
}

const tests = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined
const { passed, failed, remarks } = count(tests, outcomes)

say('=== summary ===')
for (const { part, code, minutes } of outcomes) {
  say(`${part.padEnd(13)} ${code === 0 ? 'passed' : 'FAILED'}  ${minutes.toFixed(2)} minutes`)
}
for (const remark of remarks) say(remark)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

// As a user would, with whatever Node is here: the pinned tools are the callee's business.
function npm(...args) {
  return new Promise((resolve) => {
    const child = spawn('npm', args, { cwd: root, stdio: 'inherit' })
    child.on('error', () => resolve(127))
    child.on('exit', (code) => resolve(code ?? 1))
  })
}
