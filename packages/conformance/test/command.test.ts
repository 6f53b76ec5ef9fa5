import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

test('a reader that stops reading, such as head, is not an error', async () => {
  const bin = `${import.meta.dirname}/../bin/sluice-conformance.js`
  const command = spawn(process.execPath, [bin, '--list'], { stdio: ['ignore', 'pipe', 'pipe'] })
  command.stdout.destroy()
  const [errors, [code]] = await Promise.all([text(command.stderr), once(command, 'close')])
  expect([errors, code]).toEqual(['', 0])
})
