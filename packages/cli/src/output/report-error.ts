import { SluiceError } from '@sluice/core'
import { CommandError, CommandErrors } from '../command-error.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Secrets } from '../stores/secrets.ts'
import { oneLine, safeJson } from './escape.ts'
import type { Printer } from './printer.ts'

/** Advice for errors whose messages contain none. */
const remedies: Readonly<Record<string, string>> = {
  ERR_SCHEMA_NEWER: 'install a newer @sluice/cli',
  // A lock, or a Redis that loads its data, or is a replica: the message says which.
  ERR_STORE_BUSY: 'try again',
  ERR_STORE_FULL: 'free some space, then try again',
  ERR_STORE_DAMAGED: 'run `sluice doctor` with the same store',
  ERR_STORE_FOREIGN: 'check the address of the store',
  ERR_UNKNOWN_OUTCOME: 'check the result before trying again: the change may have been made',
  EADDRINUSE: 'choose another --port',
  ERR_CONTRACT_VERSION: 'install matching versions of @sluice/cli and the drivers',
}

/** Errors whose messages say what to do; where they come from does not matter. */
const clear: readonly string[] = ['ERR_INVALID_INPUT', 'ERR_SCHEMA_OLDER']

interface Failure {
  readonly message: string
  readonly code: string
  readonly exitCode: number
}

function failureOf(error: unknown): Failure {
  if (error instanceof CommandError) return error
  if (SluiceError.is(error)) {
    const message = error.message.replace(/ \[ERR_[A-Z_]+\]$/, '')
    return { message, code: error.code, exitCode: exitCodes.failed }
  }
  const { message, code } =
    error instanceof Error
      ? (error as Error & { code?: unknown })
      : { message: String(error), code: undefined }
  return {
    message: message === '' ? 'failed without a message' : message,
    code: typeof code === 'string' ? code : 'ERR_UNEXPECTED',
    exitCode: exitCodes.failed,
  }
}

/** The stacks of an error and of its causes. */
function stacksOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 8) return String(error)
  const own = error.stack ?? error.message
  return error.cause === undefined ? own : `${own}\ncaused by ${stacksOf(error.cause, depth + 1)}`
}

/** The message of an error, its code and the advice, in one line. */
export function errorWords(error: unknown, secrets: Secrets, debug = false): string {
  const failure = failureOf(error)
  const remedy = remedyOf(error, failure, debug)
  const says = `${oneLine(secrets.redact(failure.message))} [${failure.code}]`
  return remedy === undefined ? says : `${says}; ${remedy}`
}

function remedyOf(error: unknown, { code }: Failure, debug: boolean): string | undefined {
  const isClear = error instanceof CommandError || clear.includes(code) || debug
  return remedies[code] ?? (isClear ? undefined : '--debug shows where it comes from')
}

/**
 * Prints an error to stderr in one line, with `debug` also its stack; with `-o json` as a document of
 * one line. Returns the exit code.
 */
export async function reportError(
  error: unknown,
  print: Printer,
  secrets: Secrets,
  debug: boolean,
): Promise<number> {
  if (error instanceof CommandErrors) {
    for (const each of error.errors) await reportError(each, print, secrets, debug)
    return exitCodes.failed
  }
  const failure = failureOf(error)
  const { message, code, exitCode } = failure
  if (print.format === 'json') {
    const remedy = remedyOf(error, failure, debug)
    const stack = debug ? secrets.redact(stacksOf(error)) : undefined
    await print.note(
      safeJson({ error: { code, message: secrets.redact(message), remedy, exitCode, stack } }),
    )
    return exitCode
  }
  await print.note(`${print.errorText('red', 'sluice:')} ${errorWords(error, secrets, debug)}`)
  if (debug) {
    const lines = secrets.redact(stacksOf(error)).split('\n')
    await print.note(lines.map(oneLine).join('\n'))
  }
  return exitCode
}
