import type { Grammar } from './completion/candidates.ts'
import type { Input } from './input.ts'
import type { Printer } from './output/printer.ts'
import type { OpenStore, StoreUse } from './stores/open-store.ts'
import type { Secrets } from './stores/secrets.ts'
import type { StoreAddress } from './stores/store-address.ts'
import type { Terminal } from './terminal.ts'

/** The environment of a command. */
export interface Context {
  readonly input: Input
  readonly terminal: Terminal
  readonly print: Printer
  readonly secrets: Secrets
  /** The grammar of the command line, for completion. */
  readonly grammar: Grammar
  /** Aborted when the command must end, by an interruption or a timeout. */
  readonly signal: AbortSignal
  /** The address of the store; throws a usage error if none is given. */
  address(): Promise<StoreAddress>
  /** The same; `undefined` if none is given. */
  addressIfNamed(): Promise<StoreAddress | undefined>
  /**
   * Opens the store that the command line names, and closes it when the command has ended. An older
   * schema is rejected unless `migrate` is `apply`.
   */
  store(use: StoreUse, migrate?: 'apply' | 'verify'): Promise<OpenStore>
  /** Opens the store at another address. */
  storeAt(text: string, use: StoreUse): Promise<OpenStore>
  /** Asks for confirmation: `--yes` confirms, a terminal asks, otherwise it throws. */
  confirm(what: string): Promise<boolean>
  /** Whether stdin and stderr are a terminal, so that the command can ask. */
  readonly isInteractive: boolean
  /** Asks for a line; empty if there is none. */
  ask(question: string): Promise<string>
  /** Runs a function when the command has ended, in any way; the last one first. */
  defer(end: () => Promise<void> | void): void
}
