import { type ExitCode, exitCodes } from './exit-codes.ts'

/** Why a command was not done, in words for whoever typed it. */
export class CommandError extends Error {
  /** Stable, for programs that read the message. */
  readonly code: string
  readonly exitCode: ExitCode

  constructor(code: string, message: string, exitCode: ExitCode, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'CommandError'
    this.code = code
    this.exitCode = exitCode
  }
}

/** It was called in a way that makes no sense. */
export function usageError(message: string, cause?: unknown): CommandError {
  return new CommandError('ERR_USAGE', message, exitCodes.usage, cause)
}

/** What it was to work on is not there. */
export function notFoundError(message: string): CommandError {
  return new CommandError('ERR_NOT_FOUND', message, exitCodes.notFound)
}

/** Nobody has said that it shall be done. */
export function notConfirmedError(message: string): CommandError {
  return new CommandError('ERR_NOT_CONFIRMED', message, exitCodes.usage)
}
