import { SluiceError } from '@sluice/core'
import { CommandError } from '../command-error.ts'
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
  const { message, code, exitCode } = failureOf(error)
  const isClear = error instanceof CommandError || clear.includes(code) || debug
  const remedy = remedies[code] ?? (isClear ? undefined : '--debug shows where it comes from')
  if (print.format === 'json') {
    const stack = debug ? secrets.redact(stacksOf(error)) : undefined
    await print.note(
      safeJson({ error: { code, message: secrets.redact(message), remedy, exitCode, stack } }),
    )
    return exitCode
  }
  const says = `${oneLine(secrets.redact(message))} [${code}]`
  await print.note(
    `${print.errorText('red', 'sluice:')} ${says}${remedy === undefined ? '' : `; ${remedy}`}`,
  )
  if (debug) {
    const lines = secrets.redact(stacksOf(error)).split('\n')
    await print.note(lines.map(oneLine).join('\n'))
  }
  return exitCode
}
