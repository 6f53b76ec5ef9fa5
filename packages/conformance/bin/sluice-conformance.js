#!/usr/bin/env node
import process from 'node:process'
import { runCommandLine } from '../dist/cli.js'

// A reader that stops reading, such as `head`, is not an error.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error
})

process.exitCode = await runCommandLine(process.argv.slice(2), {
  cwd: process.cwd(),
  isTerminal: process.stderr.isTTY === true,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
})

// A driver that was closed lets go of everything; one that does not must not hold up the shell.
setTimeout(() => {
  process.stderr.write('the driver keeps the process alive after it was closed\n')
  process.exit(process.exitCode === 0 ? 1 : process.exitCode)
}, 5_000).unref()
