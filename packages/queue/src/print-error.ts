import process from 'node:process'

/** Writes an error that nobody listens for as one line on stderr. */
export function printError(queue: string, error: unknown): void {
  const text = error instanceof Error ? error.message : String(error)
  const line = text.replaceAll(/\s*\n\s*/g, ' ')
  process.stderr.write(`sluice: queue ${JSON.stringify(queue)}: ${line}\n`)
}
