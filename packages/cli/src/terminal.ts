import type { Clock } from '@sluice/core'

/** A stream that a command writes to. */
export interface TerminalOutput {
  readonly isTTY: boolean
  /** How many columns a line has; `undefined` where lines have no end. */
  readonly columns: number | undefined
  /** How many lines it shows; `undefined` where there is no end to them. */
  readonly rows?: number | undefined
  /** Aborted once nobody reads any more; what is written after that goes nowhere. */
  readonly closed: AbortSignal
  /** Writes, and resolves when there is room for more. Never rejects. */
  write(text: string): void | Promise<void>
}

/** The stream that a command reads from. */
export interface TerminalInput {
  readonly isTTY: boolean
  /** What comes, line by line, without line feeds. */
  lines(): AsyncIterable<string>
}

/**
 * Everything that a command line knows of the process it runs in. A test hands in its own.
 */
export interface Terminal {
  readonly stdin: TerminalInput
  /** For data, and nothing else. */
  readonly stdout: TerminalOutput
  /** For progress, questions and errors. */
  readonly stderr: TerminalOutput
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where relative paths begin. */
  readonly cwd: string
  readonly clock: Clock
  /** Aborted with an {@link Interrupted} when the command is to end. */
  readonly interrupted: AbortSignal
  /** A text that no other run of this program has. */
  uniqueId(): string
  /** Shows an address in a browser; false if that cannot be done. */
  browse(url: string): Promise<boolean>
}

/** The reason why a command has to end before it is done: somebody sent a signal. */
export class Interrupted extends Error {
  /** What the process exits with. */
  readonly exitCode: number

  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super(`ended by ${signal}`)
    this.name = 'Interrupted'
    // 128 and the number of the signal, as shells have it.
    this.exitCode = 128 + { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal]
  }
}
