import process from 'node:process'

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
