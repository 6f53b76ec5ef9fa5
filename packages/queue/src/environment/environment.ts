// This folder is the process and its time: chance, the machine, stderr, and limits in real time.

import { hostname } from 'node:os'
import process from 'node:process'

/** A number in [0, 1), by chance. The one source of chance in this package. */
export function random(): number {
  return Math.random()
}

/**
 * Runs `callback` in the next turn of the event loop. Keeps the process alive until then, and no
 * longer.
 */
export function nextTurn(callback: () => void): void {
  setImmediate(callback)
}

/** The host and the number of this process, as its registration shows them. */
export function thisProcess(): { readonly host: string; readonly pid: number } {
  return { host: hostname(), pid: process.pid }
}

/** Writes an error without a listener as one line on stderr. */
export function printError(queue: string, error: unknown): void {
  const line = textOf(error).replaceAll(/\s*\n\s*/g, ' ')
  process.stderr.write(`sluice: queue ${JSON.stringify(queue)}: ${line}\n`)
}

function textOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return 'an error that cannot be read'
  }
}
