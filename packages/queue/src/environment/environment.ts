// This folder is the process and its time: randomness, the machine, stderr, and limits in real time.

// A browser has no process. A static import of a module of Node would not even be bundled for it.
const process = globalThis.process as typeof globalThis.process | undefined

/** A random number in [0, 1). The only source of randomness in this package. */
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

/** The version of Node, or the one that another runtime stands in for. */
export function nodeVersion(): string | undefined {
  return process?.versions?.node
}

/** Writes something about a queue as one line on stderr. */
export function printLine(queue: string, text: string): void {
  const line = `sluice: queue ${JSON.stringify(queue)}: ${text.replaceAll(/\s*\n\s*/g, ' ')}`
  if (process?.stderr === undefined) console.error(line)
  else process.stderr.write(`${line}\n`)
}

/** Stands for what cannot be said of an error. */
export const unreadable = 'an error that cannot be read'

/** The message of an error, whatever was thrown. */
export function textOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return unreadable
  }
}

const debug = process?.getBuiltinModule?.('node:util').debuglog('sluice')

/** Whether NODE_DEBUG names `sluice`, so that calls are to be written to stderr. */
export function isDebugging(): boolean {
  return debug?.enabled ?? false
}

/** Writes a line for NODE_DEBUG=sluice. */
export function printDebug(line: string): void {
  debug?.('%s', line)
}
