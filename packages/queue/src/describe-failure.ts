// String.prototype.toWellFormed is in every Node this runs on, but not in the library of es2023.
/// <reference lib="es2024.string" />
/** How much of an error's message is kept. */
const messageUnitsMax = 1_000

/** How much of an error's name and code is kept. */
const nameUnitsMax = 100

function text(value: unknown, unitsMax: number): string {
  // Stores hold neither NUL nor half surrogate pairs, and an error may have anything in it.
  return String(value).slice(0, unitsMax).replaceAll('\0', '\u2400').toWellFormed()
}

/**
 * What is kept of an error: its name, code and message as JSON, bounded. Never its stack, which may
 * tell more than a store ought to know. `undefined` for no error at all.
 */
export function describeFailure(error: unknown): string | undefined {
  if (error === undefined) return undefined
  try {
    if (typeof error === 'object' && error !== null) {
      const { name, code, message } = error as { name?: unknown; code?: unknown; message?: unknown }
      return JSON.stringify({
        name: text(name ?? 'Error', nameUnitsMax),
        ...(code === undefined ? {} : { code: text(code, nameUnitsMax) }),
        message: text(message ?? '', messageUnitsMax),
      })
    }
    return JSON.stringify({ name: typeof error, message: text(error, messageUnitsMax) })
  } catch {
    return JSON.stringify({ name: 'Error', message: 'an error that cannot be read' })
  }
}
