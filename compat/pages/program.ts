import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'

/** A program in a process of its own. */
export interface Program {
  readonly output: () => string
  /** Resolves when it has printed this; rejects if it ends before. */
  said(text: string | RegExp): Promise<void>
  /** How it ended: its code, or the signal that killed it. */
  readonly ended: Promise<number | string | null>
  /** Sends SIGTERM and resolves to how it ended. */
  terminate(): Promise<number | string | null>
  kill(): void
}

/** Starts a program of Node. */
export function startProgram(
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Program {
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: options.cwd,
    env: { ...process.env, NODE_ENV: 'production', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const waiting = new Set<() => void>()
  const take = (text: string): void => {
    output += text
    for (const look of waiting) look()
  }
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', take)
  const ended = once(child, 'close').then(([code, signal]) => signal ?? code)
  return {
    output: () => output,
    ended,
    said: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (typeof text === 'string' ? !output.includes(text) : !text.test(output)) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
        void ended.then((end) => reject(new Error(`it ended with ${end}: ${output}`)))
      }),
    terminate: () => {
      child.kill('SIGTERM')
      return ended
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

/** The answer of a server that is starting. */
export async function eventually(url: string): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await fetch(url)
    } catch (error) {
      if (tries > 600) throw error
      // real time: another process opens its port.
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

/** Resolves when a server that is stopping takes no more connections. */
export async function refused(url: string): Promise<void> {
  for (let tries = 0; tries <= 600; tries += 1) {
    const socket = connect(Number(new URL(url).port))
    const opened = once(socket, 'connect').then(
      () => true,
      () => false,
    )
    if (!(await opened)) return
    socket.destroy()
    // real time: another process closes its port.
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${url} still takes connections`)
}
