import type { Grammar } from './completion/candidates.ts'
import type { Input } from './input.ts'
import type { Printer } from './output/printer.ts'
import type { OpenStore, StoreUse } from './stores/open-store.ts'
import type { Secrets } from './stores/secrets.ts'
import type { StoreAddress } from './stores/store-address.ts'
import type { Terminal } from './terminal.ts'

/** What a command works with. */
export interface Context {
  readonly input: Input
  readonly terminal: Terminal
  readonly print: Printer
  readonly secrets: Secrets
  /** How every command line is put together. */
  readonly grammar: Grammar
  /** Aborted when the command must end: interrupted, or out of time. */
  readonly signal: AbortSignal
  /** Where the store is; throws a usage error if nobody has said. */
  address(): Promise<StoreAddress>
  /**
   * Opens the store that the command line names. It is closed when the command has ended. An older
   * schema is refused unless `migrate` says otherwise.
   */
  store(use: StoreUse, migrate?: 'apply' | 'verify'): Promise<OpenStore>
  /** Opens the store at another address. */
  storeAt(text: string, use: StoreUse): Promise<OpenStore>
  /** Asks whether to go on: `--yes` answers, a terminal is asked, and anybody else is refused. */
  confirm(what: string): Promise<boolean>
  /** Whether somebody sits there who can be asked. */
  readonly isSomebodyThere: boolean
  /** Asks for a line; empty if there is none. */
  ask(question: string): Promise<string>
  /** Does something when the command has ended, however it ended; the last first. */
  defer(end: () => Promise<void> | void): void
}
