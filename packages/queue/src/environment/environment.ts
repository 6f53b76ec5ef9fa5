// This folder is the process and its time: chance, the machine, stderr, and limits in real time.

export { nextTurn } from '@sluice/core'

// A browser has no process. A static import of a module of Node would not even be bundled for it.
const process = globalThis.process as typeof globalThis.process | undefined

/** A number in [0, 1), by chance. The one source of chance in this package. */
export function random(): number {
  return Math.random()
}

/** The random name of a queue object or of a claim. Pages without TLS have no `randomUUID`. */
export function randomName(): string {
  if (crypto.randomUUID !== undefined) return crypto.randomUUID()
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The host and the number of this process, as its registration shows them. */
export function thisProcess(): { readonly host: string; readonly pid: number } {
  return {
    host: process?.getBuiltinModule?.('node:os').hostname() ?? 'browser',
    pid: process?.pid ?? 0,
  }
}

/** Writes an error without a listener as one line on stderr. */
export function printError(queue: string, error: unknown): void {
  const line = textOf(error).replaceAll(/\s*\n\s*/g, ' ')
  const text = `sluice: queue ${JSON.stringify(queue)}: ${line}`
  if (process?.stderr === undefined) console.error(text)
  else process.stderr.write(`${text}\n`)
}

function textOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return 'an error that cannot be read'
  }
}
