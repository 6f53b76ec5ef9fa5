import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { scratchFolder } from './cli.ts'

const bin = fileURLToPath(new URL('../src/bin.ts', import.meta.url))
const flags = ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings', bin]

/** The real program in a process of its own. */
export interface Program {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  /** The output so far. */
  readonly out: () => string
  readonly err: () => string
  /** Resolves when it has written this on stdout or stderr; rejects if it ends before. */
  said(text: string | RegExp): Promise<void>
  readonly ended: Promise<{ code: number | null; signal: string | null; out: string; err: string }>
}

/** Starts the program in a process of its own. */
export function start(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Program {
  const child = spawn(process.execPath, [...flags, ...argv], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  // EPIPE where it has ended, which its output explains.
  child.stdin.on('error', () => {})
  let out = ''
  let err = ''
  const waiting = new Set<() => void>()
  const look = (): void => {
    for (const one of waiting) one()
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
    look()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
    look()
  })
  const ended = new Promise<{
    code: number | null
    signal: string | null
    out: string
    err: string
  }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, out, err }))
  })
  return {
    child,
    out: () => out,
    err: () => err,
    ended,
    said: (text) =>
      new Promise((resolve, reject) => {
        const one = (): void => {
          const all = out + err
          if (typeof text === 'string' ? !all.includes(text) : !text.test(all)) return
          waiting.delete(one)
          resolve()
        }
        waiting.add(one)
        one()
        void ended.then((end) => reject(new Error(`it ended without: ${JSON.stringify(end)}`)))
      }),
  }
}

/** A folder with the program in it under its own name, for a PATH. */
export function folderWithProgram(): string {
  const folder = join(scratchFolder(), 'bin')
  mkdirSync(folder)
  const words = [process.execPath, ...flags].map((word) => `'${word}'`).join(' ')
  writeFileSync(join(folder, 'sluice'), `#!/bin/sh\nexec ${words} "$@"\n`)
  chmodSync(join(folder, 'sluice'), 0o755)
  return folder
}

/** The environment of a shell that can call `sluice`. */
export function shellEnv(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const PATH = `${folderWithProgram()}:${process.env['PATH']}`
  // A shell complains about a locale that the machine does not have.
  return { ...process.env, LC_ALL: 'C', PATH, ...more }
}
