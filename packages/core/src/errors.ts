/**
 * Every error of Sluice, as a stable code.
 *
 * Codes are part of the public API and change only with a major version; messages may change at any
 * time. Results of normal operation, such as a lost lease on `done`, are outcomes (return values),
 * not errors.
 */
export type ErrorCode =
  | 'ERR_INVALID_INPUT'
  | 'ERR_SHUT_DOWN'
  | 'ERR_CLOSED'
  | 'ERR_CLOSING'
  | 'ERR_TIMEOUT'
  | 'ERR_STORE'
  | 'ERR_STORE_FULL'
  | 'ERR_STORE_BUSY'
  | 'ERR_STORE_DAMAGED'
  | 'ERR_STORE_FOREIGN'
  | 'ERR_SCHEMA_NEWER'
  | 'ERR_SCHEMA_OLDER'
  | 'ERR_UNKNOWN_OUTCOME'
  | 'ERR_LEASE_LOST'
  | 'ERR_HANDLER_TIMEOUT'
  | 'ERR_HELD_DROPPED'
  | 'ERR_LOOP_BLOCKED'
  | 'ERR_QUEUE_FULL'
  | 'ERR_CLOCK_MISMATCH'
  | 'ERR_CONTRACT_VERSION'

/** The optional members of an error. */
export interface ErrorDetails {
  /** The error underneath, when there is one. */
  readonly cause?: unknown
  /**
   * Whether the same call may succeed if it is repeated. True only where the failed attempt is
   * known to have had no effect.
   */
  readonly retryable?: boolean
}

/** On the prototype of every error of Sluice, in every copy of this package. */
const brand = Symbol.for('sluice.error')

/** Where the documentation explains a code. */
export function errorAnchor(code: ErrorCode): string {
  return `https://sluice-queue.github.io/sluice/reference/errors#${code.toLowerCase()}`
}

function isBranded(value: unknown): value is SluiceError {
  if (typeof value !== 'object' || value === null) return false
  try {
    return brand in value
  } catch {
    // A proxy that was revoked, or whose traps throw.
    return false
  }
}

/**
 * The error that every part of Sluice rejects with, recognizable by `code`.
 *
 * Use {@link SluiceError.is} rather than `instanceof`: it holds across realms and across two copies
 * of the package in one program. It does not hold for a copy made by `structuredClone` or
 * `postMessage`, which keep no more of an error than its message, stack and cause.
 */
export class SluiceError extends Error {
  readonly code: ErrorCode
  /** See {@link ErrorDetails.retryable}. */
  readonly retryable: boolean
  /** Where the documentation explains this code. */
  readonly docs: string

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(`${message} [${code}]`, 'cause' in details ? { cause: details.cause } : undefined)
    this.name = 'SluiceError'
    this.code = code
    this.retryable = details.retryable ?? false
    this.docs = errorAnchor(code)
  }

  /** Whether `value` is an error made by any copy of Sluice, and has `code` if one is given. */
  static is<Code extends ErrorCode = ErrorCode>(
    value: unknown,
    code?: Code,
  ): value is SluiceError & { readonly code: Code } {
    return isBranded(value) && (code === undefined || value.code === code)
  }
}

/** Input of the wrong kind; also a `TypeError`. Nothing was changed. */
export class SluiceTypeError extends TypeError {
  readonly code = 'ERR_INVALID_INPUT' as const
  readonly retryable = false as const
  readonly docs: string = errorAnchor('ERR_INVALID_INPUT')
  /** The rejected parameter, as the caller would write it. */
  readonly parameter: string

  constructor(parameter: string, message: string, details: ErrorDetails = {}) {
    super(
      `${parameter} ${message} [ERR_INVALID_INPUT]`,
      'cause' in details ? { cause: details.cause } : undefined,
    )
    this.name = 'SluiceTypeError'
    this.parameter = parameter
  }
}

/** Input of the right kind but outside its limits; also a `RangeError`. Nothing was changed. */
export class SluiceRangeError extends RangeError {
  readonly code = 'ERR_INVALID_INPUT' as const
  readonly retryable = false as const
  readonly docs: string = errorAnchor('ERR_INVALID_INPUT')
  /** The rejected parameter, as the caller would write it. */
  readonly parameter: string

  constructor(parameter: string, message: string, details: ErrorDetails = {}) {
    super(
      `${parameter} ${message} [ERR_INVALID_INPUT]`,
      'cause' in details ? { cause: details.cause } : undefined,
    )
    this.name = 'SluiceRangeError'
    this.parameter = parameter
  }
}

for (const type of [SluiceError, SluiceTypeError, SluiceRangeError]) {
  Object.defineProperty(type.prototype, brand, { value: true })
}
