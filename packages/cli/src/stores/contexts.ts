import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { closest } from '@sluice/core'
import { CommandError, usageError } from '../command-error.ts'
import { exitCodes } from '../exit-codes.ts'
import { oneLine, shown } from '../output/escape.ts'
import type { Terminal } from '../terminal.ts'
import { wait } from '../wait.ts'
import { withoutPasswords } from './secrets.ts'

/** Named stores, and the one that is used if none is named. */
export interface Contexts {
  readonly current?: string
  readonly stores: Readonly<Record<string, string>>
}

/** Where a command line runs: its variables and its folder. */
type Surroundings = Pick<Terminal, 'env' | 'cwd'>

/** The path of the file with the contexts; `undefined` where there is no home folder. */
export function contextsFile({ env, cwd }: Surroundings): string | undefined {
  const { SLUICE_CONFIG: named, XDG_CONFIG_HOME: config, HOME, APPDATA } = env
  if (named !== undefined && named !== '') return resolve(cwd, named)
  const folder = config || APPDATA || (HOME === undefined ? undefined : join(HOME, '.config'))
  return folder === undefined ? undefined : join(folder, 'sluice', 'config.json')
}

function isContexts(value: unknown): value is Contexts {
  if (typeof value !== 'object' || value === null) return false
  const { current, stores } = value as Record<string, unknown>
  if (current !== undefined && typeof current !== 'string') return false
  if (typeof stores !== 'object' || stores === null) return false
  return Object.values(stores).every((address) => typeof address === 'string')
}

/** Reads the contexts; none if there is no file. */
export function readContexts(surroundings: Surroundings): Contexts {
  const path = contextsFile(surroundings)
  if (path === undefined) return { stores: {} }
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return { stores: {} }
    throw new CommandError('ERR_FILE', `${path} cannot be read`, exitCodes.failed, error)
  }
  try {
    const value: unknown = JSON.parse(text)
    if (isContexts(value)) return value
  } catch {
    // Said below.
  }
  const form = '{ "current": "dev", "stores": { "dev": "sqlite:/srv/queue.db" } }'
  throw new CommandError('ERR_FILE', `${path} must look like ${form}`, exitCodes.failed)
}

/** The part of the command line that a change of the contexts needs. */
type Changer = Pick<Terminal, 'env' | 'cwd' | 'clock' | 'interrupted' | 'uniqueId'>

/** How often, and how long, a command waits for another one that changes the contexts, in milliseconds. */
const lockMs = { look: 5, longest: 5_000 }

/**
 * Changes the contexts, whole or not at all, and one command after another: each finds the changes of
 * those before. Returns the second value of `change`.
 */
export async function changeContexts<T>(
  terminal: Changer,
  change: (contexts: Contexts) => readonly [Contexts, T],
): Promise<T> {
  const path = contextsFile(terminal)
  if (path === undefined) throw usageError('there is no home folder: set SLUICE_CONFIG to a file')
  const failed = (error: unknown): CommandError =>
    new CommandError('ERR_FILE', `${path} cannot be written`, exitCodes.failed, error)
  const lock = `${path}.lock`
  // Added up: while the machine stands still, the other command has no time to end.
  for (let waitedMs = 0; !isTaken(lock, failed); waitedMs += lockMs.look) {
    if (waitedMs >= lockMs.longest) {
      const message = `${lock} exists: another command changes the contexts. If none runs, delete the file`
      throw new CommandError('ERR_FILE', message, exitCodes.failed)
    }
    const { interrupted } = terminal
    if (!(await wait(terminal.clock, lockMs.look, interrupted))) throw interrupted.reason
  }
  try {
    const [contexts, said] = change(readContexts(terminal))
    try {
      // A link, as of a folder of settings under version control, stays: the file that it names is replaced.
      const file = existsSync(path) ? realpathSync(path) : path
      const draft = `${file}.${terminal.uniqueId()}`
      writeFileSync(draft, `${JSON.stringify(contexts, undefined, 2)}\n`, { mode: 0o600 })
      renameSync(draft, file)
    } catch (error) {
      throw failed(error)
    }
    return said
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Creates the lock; false if it exists. */
function isTaken(lock: string, failed: (error: unknown) => CommandError): boolean {
  try {
    mkdirSync(dirname(lock), { recursive: true })
    writeFileSync(lock, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    const { code, path } = error as { code?: unknown; path?: unknown }
    // The folder may be a file, which exists as well.
    if (code === 'EEXIST' && path === lock) return false
    throw failed(error)
  }
}

/** The address of the store that a context names: an address, `@FILE` or `$VARIABLE`. */
export function storeOfContext(surroundings: Surroundings, name: string): string {
  const { stores } = readContexts(surroundings)
  const address = Object.hasOwn(stores, name) ? stores[name] : undefined
  if (address === undefined) throw usageError(unknownContext(name, Object.keys(stores)))
  if (!address.startsWith('$')) return address
  const text = surroundings.env[address.slice(1)]
  if (text !== undefined && text !== '') return text
  throw usageError(`the context ${shown(name)} is the store in ${address}, which is not set`)
}

/** Says that there is no such context, and which one was probably meant. */
export function unknownContext(name: string, known: readonly string[]): string {
  const near = closest(name, known)
  const advice =
    near === undefined ? '`sluice config` lists those there are' : `did you mean ${shown(near)}?`
  return `there is no context ${shown(name)}; ${advice}`
}

/** Throws for an address that would put a password into the file. */
export function refusePassword(address: string): void {
  if (withoutPasswords(address) === address) return
  throw usageError(
    `${oneLine(withoutPasswords(address))} contains a password, which is not stored: ` +
      "put the address into a file that only you can read, and set '@FILE', or into a variable, and set '$VARIABLE'",
  )
}
