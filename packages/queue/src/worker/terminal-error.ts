/** A property of every TerminalError, of every copy of this package. */
const brand = Symbol.for('sluice.terminal-error')

/** An error after which a key is not tried again. */
export class TerminalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TerminalError'
    Object.defineProperty(this, brand, { value: true })
  }
}

/**
 * Whether a run that threw this value is not tried again: it is a {@link TerminalError}, of this copy
 * of the package or of another one, as a library that throws it may have. The value may be no object,
 * or a proxy.
 */
export function isTerminal(error: unknown): boolean {
  try {
    // Of a run that went well this is `undefined`, for which `in` throws: that took a third of the
    // processor time of a worker (a profile of handlers that do nothing on Postgres).
    return error !== undefined && brand in (error as object)
  } catch {
    return false
  }
}
