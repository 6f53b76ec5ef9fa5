import type { BulkOptions, BulkResult, Inspect, Selection } from 'sluice'
import { type CommandSpec, type Example, type OptionSpec, queueArgument } from '../../command.ts'
import { usageError } from '../../command-error.ts'
import type { Context } from '../../context.ts'
import { type ExitCode, exitCodes } from '../../exit-codes.ts'
import type { Input } from '../../input.ts'
import { shown } from '../../output/escape.ts'
import { keyFilterOf, keyFilterOptions } from '../../rows/key-filters.ts'

/** What became of one key. */
type KeyOutcome = 'changed' | 'unchanged' | 'missing'

/** Something an operator does to keys. */
export interface KeyVerb {
  readonly name: string
  readonly summary: string
  readonly details: string
  /** What is said of a key to which it was done: `parked`. */
  readonly past: string
  /** What is said of several keys to which it is to be done: `be parked`. */
  readonly future: string
  readonly options?: readonly OptionSpec[]
  readonly examples: readonly Example[]
  one(inspect: Inspect, key: string, input: Input): Promise<KeyOutcome>
  many(selection: Selection, options: BulkOptions, input: Input): Promise<BulkResult>
}

/** How many keys are touched at the most unless told otherwise. */
const limitDefault = 10_000

/** How many keys are worked on at a time. */
const besides = 50

/** The command that does something to keys that are named, or to all that options choose. */
export function keyCommand(verb: KeyVerb): CommandSpec {
  return {
    name: verb.name,
    summary: verb.summary,
    details: `${verb.details} With --all, all keys that the options choose: it says how many there are, and asks.`,
    group: 'Keys',
    positionals: [
      queueArgument,
      { name: 'KEY', summary: 'the keys', kind: 'key', optional: true, variadic: true },
    ],
    options: [
      ...(verb.options ?? []),
      { flags: '--all', summary: 'all keys that the options choose, instead of named ones' },
      ...keyFilterOptions,
      { flags: '--limit <N>', summary: 'with --all: touch at most so many (default: 10000)' },
    ],
    examples: verb.examples,
    json: '{ queue, verb, results: [{ key, outcome }] }, or with --all { queue, verb, count, capped, confirmed, changed, unchanged }',
    async run(context) {
      const { input } = context
      const queue = input.queue()
      const keys = input.keys(1)
      const filter = keyFilterOf(input)
      const limit = input.whole('limit', { min: 1 })
      if (input.flag('all')) {
        if (keys.length > 0) throw usageError('name keys, or say --all, but not both')
        return await toAll(context, verb, queue, { ...filter, cap: limit ?? limitDefault })
      }
      if (limit !== undefined || Object.keys(filter).length > 0) {
        throw usageError('options that choose keys go with --all')
      }
      if (keys.length === 0) throw usageError('name a KEY, or say --all')
      return await toNamed(context, verb, queue, keys)
    },
  }
}

async function toNamed(
  context: Context,
  verb: KeyVerb,
  queue: string,
  keys: readonly string[],
): Promise<ExitCode> {
  const { input, print } = context
  const { inspection } = await context.store('look')
  const inspect = inspection.queue(queue)
  const results: { key: string; outcome: KeyOutcome }[] = []
  for (let from = 0; from < keys.length; from += besides) {
    const some = keys.slice(from, from + besides)
    const outcomes = await Promise.all(some.map((key) => verb.one(inspect, key, input)))
    results.push(...some.map((key, index) => ({ key, outcome: outcomes[index] as KeyOutcome })))
  }
  if (print.isDocument) await print.document({ queue, verb: verb.name, results })
  else if (print.format === 'name') await print.names(results.map(({ key }) => key))
  else {
    for (const { key, outcome } of results) {
      if (outcome === 'missing') await print.note(`${shown(key)} is not there`)
      else await print.lines([`${shown(key)} ${outcome === 'changed' ? verb.past : outcome}`])
    }
  }
  const isMissing = results.some(({ outcome }) => outcome === 'missing')
  return isMissing ? exitCodes.notFound : exitCodes.ok
}

async function toAll(
  context: Context,
  verb: KeyVerb,
  queue: string,
  filter: Parameters<Inspect['select']>[0],
): Promise<ExitCode | undefined> {
  const { input, print } = context
  const { inspection } = await context.store('look')
  const selection = inspection.queue(queue).select(filter)
  const result = await verb.many(
    selection,
    {
      async confirm({ count, capped }) {
        if (count === 0) return true
        const more = capped ? ', and there are more' : ''
        const what = `${count} ${count === 1 ? 'key' : 'keys'} of ${shown(queue)} will ${verb.future}${more}`
        if (input.flag('yes')) await print.note(what)
        return await context.confirm(what)
      },
    },
    input,
  )
  if (print.isDocument) await print.document({ queue, verb: verb.name, ...result })
  else if (!result.confirmed) await print.note('nothing was done')
  else {
    const { changed, unchanged } = result
    const rest = unchanged === 0 ? '' : `, ${unchanged} unchanged`
    await print.lines([`${changed} ${changed === 1 ? 'key' : 'keys'} ${verb.past}${rest}`])
  }
  return result.confirmed ? undefined : exitCodes.usage
}
