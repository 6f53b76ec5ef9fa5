import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, systemClock } from '@sluice/core'
import { onTestFinished } from 'vitest'
import { runCli, type Terminal, type TerminalOutput } from '../src/index.ts'

/** How a command line ended. */
export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** How the terminal of a test differs from the default. */
export interface World {
  readonly store?: string
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly stdin?: readonly string[] | AsyncIterable<string>
  /** Whether stdin and stderr are a terminal. */
  readonly isTTY?: boolean
  /** Which of them is none, although the other one is. */
  readonly redirected?: 'stdin' | 'stderr'
  readonly columns?: number
  readonly clock?: Clock
  readonly interrupted?: AbortSignal
  readonly closed?: AbortSignal
  readonly browse?: (url: string) => Promise<boolean>
  readonly onKey?: Terminal['stdin']['onKey']
  /** Called with every write to stdout. */
  readonly onOut?: (text: string) => void
  /** Called with every write to stderr. */
  readonly onErr?: (text: string) => void
}

/** A temporary folder that is deleted when the test has ended. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const never = new AbortController().signal

/** Runs one command line in this process. */
export async function cli(argv: readonly string[], world: World = {}): Promise<Ended> {
  let out = ''
  let err = ''
  const { isTTY = false, redirected, columns, stdin = [], closed = never } = world
  const stream = (write: (text: string) => void, isTerminal = isTTY): TerminalOutput => {
    return { isTTY: isTerminal, columns, closed, write }
  }
  const terminal: Terminal = {
    stdin: {
      isTTY: isTTY && redirected !== 'stdin',
      async *lines() {
        yield* stdin
      },
      onKey: world.onKey,
    },
    stdout: stream((text) => {
      out += text
      world.onOut?.(text)
    }),
    stderr: stream(
      (text) => {
        err += text
        world.onErr?.(text)
      },
      isTTY && redirected !== 'stderr',
    ),
    env: { ...world.env, ...(world.store === undefined ? {} : { SLUICE_STORE: world.store }) },
    cwd: world.cwd ?? tmpdir(),
    clock: world.clock ?? systemClock,
    interrupted: world.interrupted ?? never,
    uniqueId: () => crypto.randomUUID(),
    browse: world.browse ?? (async () => false),
  }
  const code = await runCli(argv, terminal)
  return { code, out, err }
}

/** The same, for a command line that must go well. */
export async function output(argv: readonly string[], world: World = {}): Promise<string> {
  const { code, out, err } = await cli(argv, world)
  if (code !== 0) throw new Error(`sluice ${argv.join(' ')} ended with ${code}: ${err}`)
  return out
}

/** What a command line prints as JSON. */
export async function json<T = Record<string, unknown>>(
  argv: readonly string[],
  world: World = {},
): Promise<T> {
  return JSON.parse(await output([...argv, '-o', 'json'], world)) as T
}
