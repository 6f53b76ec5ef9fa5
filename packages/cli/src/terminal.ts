import type { Clock } from '@sluice/core'

/** An output stream of a command. */
export interface TerminalOutput {
  readonly isTTY: boolean
  /** The width of a line in columns; `undefined` if it is not limited. */
  readonly columns: number | undefined
  /** The number of visible lines; `undefined` if it is not limited. */
  readonly rows?: number | undefined
  /** Aborted when the reader has gone; later writes are dropped. */
  readonly closed: AbortSignal
  /** Why what was written is lost, such as a full disk; a reader that has gone is no failure. */
  readonly failure?: Error | undefined
  /** Writes; resolves when the stream can take more. Never rejects. */
  write(text: string): void | Promise<void>
}

/** The input stream of a command. */
export interface TerminalInput {
  readonly isTTY: boolean
  /** The lines of the input, without line feeds. */
  lines(): AsyncIterable<string>
  /**
   * Calls a function with each key that is pressed, without waiting for Enter, and with '' when the size of the
   * terminal has changed; returns a function that ends that. Absent where stdin is no terminal.
   */
  readonly onKey?: ((pressed: (key: string) => void) => () => void) | undefined
}

/**
 * Everything that a command line uses of its process. Tests pass their own.
 */
export interface Terminal {
  readonly stdin: TerminalInput
  /** For data only. */
  readonly stdout: TerminalOutput
  /** For progress, questions and errors. */
  readonly stderr: TerminalOutput
  readonly env: Readonly<Record<string, string | undefined>>
  /** The base of relative paths. */
  readonly cwd: string
  readonly clock: Clock
  /** Aborted with an {@link Interrupted} when the command must end. */
  readonly interrupted: AbortSignal
  /** Returns a text that is unique to this run. */
  uniqueId(): string
  /** Opens an address in a browser; false if that fails. It may not settle before the browser is closed. */
  browse(url: string): Promise<boolean>
}

/** The reason of an abort by a signal. */
export class Interrupted extends Error {
  /** The exit code of the process. */
  readonly exitCode: number

  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super(`ended by ${signal}`)
    this.name = 'Interrupted'
    // 128 plus the number of the signal, as in shells.
    this.exitCode = 128 + { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal]
  }
}
