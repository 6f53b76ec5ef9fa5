// Runs every part of the examination, whatever the others say, and counts. Called by .ci/run.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { count } from './count.mjs'
import { root, say } from './toolbox.mjs'

const report = join(root, '.reports', 'vitest.json')
rmSync(report, { force: true })

// Tests measure time, among other things, and keep both cores busy.
const alone = ['test', 'test:oldest']
// Most of these keep little more than one core busy, and the first waits half of its time, so two of
// them run at the same time; those that take longest come first.
const inPairs = ['compat', 'test:mutants', 'site:check', 'lint', 'check:package', 'types', 'docs']

const outcomes = []
for (const part of alone) {
  say(`=== ${part} ===`)
  outcomes.push(await outcome(part, true))
}
const waiting = [...inPairs]
const worker = async () => {
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    say(`${part} has started; what it prints is shown when it has ended`)
    const ended = await outcome(part, false)
    say(`=== ${part} ===`)
    process.stdout.write(ended.output)
    outcomes.push(ended)
  }
}
await Promise.all([worker(), worker()])

const tests = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined
const { passed, failed, remarks } = count(tests, outcomes)

// Where nobody has to look for it in a long log.
for (const { part, code, output } of outcomes) {
  if (code === 0) continue
  say(`=== the end of what ${part} printed, which failed ===`)
  console.log(output.toString().slice(-6_000))
}
say('=== summary ===')
for (const { part, code, minutes } of outcomes) {
  say(`${part.padEnd(13)} ${code === 0 ? 'passed' : 'FAILED'}  ${minutes.toFixed(2)} minutes`)
}
for (const remark of remarks) say(remark)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

/** Runs one part; `isShown`: what it prints is shown at once. */
async function outcome(part, isShown) {
  const started = Date.now()
  const ended = await npm(isShown, 'run', '--silent', part)
  return { part, ...ended, minutes: (Date.now() - started) / 60_000 }
}

// As a user would, with whatever Node is here: the pinned tools are the callee's business.
function npm(isShown, ...args) {
  return new Promise((resolve) => {
    const child = spawn('npm', args, { cwd: root, stdio: ['inherit', 'pipe', 'pipe'] })
    const printed = []
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        printed.push(data)
        if (isShown) process.stdout.write(data)
      })
    }
    const end = (code) => resolve({ code, output: Buffer.concat(printed) })
    child.on('error', () => end(127))
    child.on('close', (code) => end(code ?? 1))
  })
}
