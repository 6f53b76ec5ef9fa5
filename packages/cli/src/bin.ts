#!/usr/bin/env node
// The only file that uses the process; every other file gets what it needs as an argument.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import process from 'node:process'
import type { WriteStream } from 'node:tty'
import { systemClock } from '@sluice/core'
import { exitCodes } from './exit-codes.ts'
import { linesOf } from './lines-of.ts'
import { newerNodeNeeded } from './manifest.ts'
import { Interrupted, type Terminal, type TerminalOutput } from './terminal.ts'

// A process list shows arguments to every user, and an argument may be an address with a password.
process.title = 'sluice'

const nodeNeeded = newerNodeNeeded(process.versions.node)
if (nodeNeeded !== undefined) {
  process.stderr.write(
    `sluice: cannot run on Node ${process.versions.node}; install Node ${nodeNeeded} or newer\n`,
  )
  process.exit(exitCodes.failed)
}

// Printed by older versions of Node about its own SQLite; the user cannot act on it.
process.removeAllListeners('warning')

/** The codes of writes to a pipe that nobody reads any more. */
const goneCodes = new Set<unknown>(['EPIPE', 'ECONNRESET', 'EOF'])

function outputTo(stream: WriteStream): TerminalOutput {
  const closed = new AbortController()
  let failure: Error | undefined
  const ended = (error: (Error & { code?: unknown }) | null | undefined): void => {
    if (error === null || error === undefined) return
    // A reader that stops reading, such as `head`, is not an error, and neither is a closed terminal.
    if (stream.isTTY || goneCodes.has(error.code)) closed.abort()
    else if (!closed.signal.aborted) failure ??= error
  }
  stream.on('error', ended)
  return {
    isTTY: stream.isTTY === true,
    // A terminal whose size is not known, such as a serial console, has 0 of both.
    get columns() {
      return (stream.isTTY && stream.columns) || undefined
    },
    get rows() {
      return (stream.isTTY && stream.rows) || undefined
    },
    closed: closed.signal,
    get failure() {
      return failure
    },
    write(text) {
      if (text === '' || closed.signal.aborted) return undefined
      return new Promise((resolve) => {
        stream.write(text, (error) => {
          ended(error)
          resolve()
        })
      })
    },
  }
}

/** The keys of a text, as they arrive together: an arrow, for example, is a sequence that begins with Escape. */
function keysIn(text: string): string[] {
  const [typed = '', ...escaped] = text.split('\u001b')
  const afterEscape = (rest: string): string[] => {
    const [sequence = ''] = /^(?:\[[\d;]*[~A-Za-z]|O[A-Z])/.exec(rest) ?? []
    return [`\u001b${sequence}`, ...rest.slice(sequence.length)]
  }
  return [...typed, ...escaped.flatMap(afterEscape)]
}

/** Reads keys one by one. Ctrl-C is a character then, and is made a signal again. */
function onKey(pressed: (key: string) => void): () => void {
  const { stdin, stdout } = process
  const onResize = (): void => pressed('')
  const onData = (chunk: Buffer): void => {
    for (const key of keysIn(String(chunk))) {
      if (key === '\u0003') process.kill(process.pid, 'SIGINT')
      else pressed(key)
    }
  }
  stdin.setRawMode(true)
  stdin.on('data', onData)
  stdout.on('resize', onResize)
  return () => {
    stdout.off('resize', onResize)
    stdin.off('data', onData)
    stdin.setRawMode(false)
    stdin.pause()
  }
}

function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const reason = new Interrupted(signal)
      // The second signal ends the process at once.
      if (controller.signal.aborted) process.exit(reason.exitCode)
      controller.abort(reason)
    })
  }
  return controller.signal
}

/** The current folder, to which paths are relative. A deployment may have deleted it. */
function currentFolder(): string {
  try {
    return process.cwd()
  } catch {
    process.stderr.write(
      'sluice: cannot run: the current folder was deleted or cannot be read; change to another folder\n',
    )
    process.exit(exitCodes.failed)
  }
}

function browse(url: string): Promise<boolean> {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '""']
        : ['xdg-open']
  return new Promise((resolve) => {
    const child = spawn(command as string, [...args, url], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    // Without a browser, xdg-open starts as well, and fails.
    child.once('exit', (code) => resolve(code === 0))
    child.unref()
  })
}

const terminal: Terminal = {
  stdin: {
    isTTY: process.stdin.isTTY === true,
    lines: () => linesOf('stdin', process.stdin),
    onKey: process.stdin.isTTY ? onKey : undefined,
  },
  stdout: outputTo(process.stdout),
  stderr: outputTo(process.stderr),
  env: process.env,
  cwd: currentFolder(),
  clock: systemClock,
  interrupted: interruption(),
  uniqueId: randomUUID,
  browse,
}

// Loaded only now: on a version of Node that is too old, what it loads fails, or ends the process.
const { runCli } = await import('./run-cli.ts')
const code = await runCli(process.argv.slice(2), terminal)
// All output is written and all stores are closed; nothing may delay the exit.
process.exit(code)
