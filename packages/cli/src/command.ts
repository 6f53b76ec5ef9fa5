import type { Context } from './context.ts'
import type { ExitCode } from './exit-codes.ts'

/** The kind of a word on the command line, which decides what a shell completes it with. */
export type WordKind = 'queue' | 'key' | 'file' | 'store' | 'context' | 'text'

/** A positional argument. */
export interface ArgumentSpec {
  /** The name that help shows: `QUEUE`. */
  readonly name: string
  readonly summary: string
  readonly kind: WordKind
  readonly optional?: boolean
  /** Takes all remaining words. */
  readonly variadic?: boolean
  readonly choices?: readonly string[]
}

/** An option. The name of its value is in capitals: `-s, --store <URL>`. */
export interface OptionSpec {
  readonly flags: string
  readonly summary: string
  readonly kind?: WordKind
  readonly choices?: readonly string[]
  /** May be given more than once. */
  readonly repeatable?: boolean
}

/** An example: a command line and what it does. */
export interface Example {
  readonly line: string
  readonly does: string
}

/** One command: its arguments, options and texts, and the function that runs it. */
export interface CommandSpec {
  readonly name: string
  readonly alias?: string
  /** One line without a full stop. */
  readonly summary: string
  /** Further sentences for help. */
  readonly details?: string
  /** The heading in help. */
  readonly group: 'Inspect' | 'Keys' | 'Queues' | 'Stores' | 'More'
  readonly hidden?: boolean
  readonly positionals?: readonly ArgumentSpec[]
  readonly options?: readonly OptionSpec[]
  readonly examples?: readonly Example[]
  /** The document that `-o json` prints, as a type. Stable within a major version. */
  readonly json?: string
  /** The command ends on its own soon after its signal is aborted, and must not be cut off. */
  readonly endsAfterAbort?: boolean
  /** Passes unknown options on instead of rejecting them. */
  readonly takesAnything?: boolean
  /** Runs the command. Reads all input before it opens a store. No exit code means success. */
  run(context: Context): Promise<ExitCode | undefined> | Promise<void>
}

/** The first positional of nearly every command. */
export const queueArgument: ArgumentSpec = {
  name: 'QUEUE',
  summary: 'the name of a queue',
  kind: 'queue',
}

/** The positional of commands for one key. */
export const keyArgument: ArgumentSpec = { name: 'KEY', summary: 'a key of the queue', kind: 'key' }

/** The positionals of commands that read queues of one store and write them to another. */
export const queuesOfStores: readonly ArgumentSpec[] = [
  { name: 'FROM', summary: 'the store to read from', kind: 'store' },
  { name: 'TO', summary: 'the store to write to', kind: 'store' },
  {
    name: 'QUEUE',
    summary: 'the queues (default: all)',
    kind: 'queue',
    optional: true,
    variadic: true,
  },
]
