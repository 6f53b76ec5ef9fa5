import type { Context } from './context.ts'
import type { ExitCode } from './exit-codes.ts'

/** What a word of a command line can be, which is what a shell offers for it. */
export type WordKind = 'queue' | 'key' | 'file' | 'store' | 'text'

/** A place in a command line. */
export interface ArgumentSpec {
  /** As it is shown: `QUEUE`. */
  readonly name: string
  readonly summary: string
  readonly kind: WordKind
  readonly optional?: boolean
  /** It takes all words that are left. */
  readonly variadic?: boolean
  readonly choices?: readonly string[]
}

/** An option. One that takes a value names it in capitals: `-s, --store <URL>`. */
export interface OptionSpec {
  readonly flags: string
  readonly summary: string
  readonly kind?: WordKind
  readonly choices?: readonly string[]
  /** It may be given more than once. */
  readonly repeatable?: boolean
}

/** A command line that does something, and what it does. */
export interface Example {
  readonly line: string
  readonly does: string
}

/** One command: how it is called, and what it does then. */
export interface CommandSpec {
  readonly name: string
  readonly alias?: string
  /** One line, without a full stop. */
  readonly summary: string
  /** What else there is to know: whole sentences. */
  readonly details?: string
  /** The heading that it stands under. */
  readonly group: 'Looking' | 'Keys' | 'Queues' | 'Stores' | 'More'
  readonly hidden?: boolean
  readonly positionals?: readonly ArgumentSpec[]
  readonly options?: readonly OptionSpec[]
  readonly examples?: readonly Example[]
  /** The document that `-o json` prints, in the notation of types. Stable within a major version. */
  readonly json?: string
  /** It ends by itself soon after its signal was aborted, and wants to. */
  readonly windsUp?: boolean
  /** Options that it does not know are its own business. */
  readonly takesAnything?: boolean
  /** Does it. Reads all of its input before it touches a store. Without a code it went well. */
  run(context: Context): Promise<ExitCode | undefined>
}

/** The first positional of nearly every command. */
export const queueArgument: ArgumentSpec = {
  name: 'QUEUE',
  summary: 'the name of a queue',
  kind: 'queue',
}

/** A single key of a queue. */
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
