import { type ExitCode, exitCodes } from './exit-codes.ts'

/** The error of a command, with a message for the user. */
export class CommandError extends Error {
  /** A stable code, for programs that read the message. */
  readonly code: string
  readonly exitCode: ExitCode

  constructor(code: string, message: string, exitCode: ExitCode, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'CommandError'
    this.code = code
    this.exitCode = exitCode
  }
}

/** Several errors of one command, each of which is reported. */
export class CommandErrors extends Error {
  readonly errors: readonly unknown[]

  constructor(errors: readonly unknown[]) {
    super(`${errors.length} errors`)
    this.name = 'CommandErrors'
    this.errors = errors
  }
}

/** The command line is invalid. */
export function usageError(message: string, cause?: unknown): CommandError {
  return new CommandError('ERR_USAGE', message, exitCodes.usage, cause)
}

/** The two stores of a command are the same one. */
export function oneStoreError(cause?: unknown): CommandError {
  return usageError('FROM and TO are one store', cause)
}

/** A queue, a key or triggers that the command names do not exist. */
export function notFoundError(message: string): CommandError {
  return new CommandError('ERR_NOT_FOUND', message, exitCodes.notFound)
}

/** The command was not confirmed. */
export function notConfirmedError(message: string): CommandError {
  return new CommandError('ERR_NOT_CONFIRMED', message, exitCodes.usage)
}
