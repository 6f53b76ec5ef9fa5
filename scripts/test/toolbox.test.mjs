import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const toolbox = join(import.meta.dirname, '..', 'toolbox.mjs')

const child = `
  process.on('SIGINT', () => setImmediate(() => { console.log('last words'); process.exit(3) }))
  setInterval(() => undefined, 1000) // real time: keeps it alive until then.
  console.log('started')
`
const parent = `
  import { run } from ${JSON.stringify(toolbox)}
  console.log('ended', await run(process.execPath, ['-e', ${JSON.stringify(child)}]))
`

test('a command that is interrupted ends after the program that it runs', async () => {
  // Ctrl-C in a terminal is a signal to the whole group of processes.
  const command = spawn(process.execPath, ['--input-type=module', '-e', parent], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void command.kill('SIGKILL'))
  let said = ''
  command.stdout.on('data', (chunk) => {
    if (said === '') process.kill(-command.pid, 'SIGINT')
    said += chunk
  })
  const code = await new Promise((resolve) => command.once('close', resolve))
  expect([code, said]).toEqual([0, 'started\nlast words\nended 3\n'])
})
