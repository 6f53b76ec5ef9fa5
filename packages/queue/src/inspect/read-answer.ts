import { SluiceTypeError } from '@sluice/core'

/** Reads an answer of `inspect` that a caller has handed in; refuses anything else with a typed error. */
export function readAnswer<T>(parameter: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new SluiceTypeError(parameter, 'must be an answer of inspect', { cause })
  }
}
