import { SluiceError } from './errors.ts'

/** What Node and the dynamic linker say when a process, or the system, has no file handle left. */
const outOfHandles = /too many open files|file table overflow/i

/**
 * The error of a driver that cannot load a package, such as the client of its store.
 *
 * A package that is there and could not be read, for lack of file handles, may load later; so that error is retryable.
 * A module that Node has begun to run fails until the process is restarted.
 *
 * @param advice What to do without the package, such as `hand in a pool`.
 */
export function packageError(name: string, advice: string, cause: unknown): SluiceError {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown }
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') {
    const words = `the package ${name} cannot be loaded; install it, or ${advice}`
    return new SluiceError('ERR_STORE', words, { cause })
  }
  const [reason] = String(message ?? cause).split('\n')
  const retryable = outOfHandles.test(String(message))
  const remedy = retryable
    ? 'raise the limit of open files, and restart the process'
    : `install it again, or ${advice}`
  return new SluiceError('ERR_STORE', `${name} does not load: ${reason}; ${remedy}`, {
    cause,
    retryable,
  })
}
