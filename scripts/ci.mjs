// Runs every part of the examination, whatever the others say, and counts. Called by .ci/run.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { count } from './count.mjs'
import { root, say } from './toolbox.mjs'

const report = join(root, '.reports', 'vitest.json')
rmSync(report, { force: true })

// The tests keep all cores busy. Of the others each keeps one, so two of them go side by side: never
// two that build.
const rounds = [['test'], ['test:oldest'], ['lint', 'check:package'], ['types', 'docs']]
const outcomes = []
for (const round of rounds) {
  outcomes.push(...(await Promise.all(round.map((part) => examine(part, round.length > 1)))))
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

/** Runs a part; beside another one, what it prints is shown when it has ended. */
async function examine(part, isBeside) {
  const heading = `=== ${part} ===`
  if (!isBeside) say(heading)
  const started = Date.now()
  const printed = []
  const code = await npm(['run', '--silent', part], isBeside ? printed : undefined)
  if (isBeside) {
    say(heading)
    process.stdout.write(Buffer.concat(printed))
  }
  return { part, code, minutes: (Date.now() - started) / 60_000 }
}

// As a user would, with whatever Node is here: the pinned tools are the callee's business.
function npm(args, printed) {
  return new Promise((resolve) => {
    const stdio = printed === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe']
    const child = spawn('npm', args, { cwd: root, stdio })
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => printed.push(chunk))
    }
    child.on('error', () => resolve(127))
    child.on('close', (code) => resolve(code ?? 1))
  })
}
