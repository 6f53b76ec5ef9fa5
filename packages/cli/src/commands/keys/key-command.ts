// This folder is the commands that change keys.

import type { BulkOptions, BulkResult, Inspect, Selection } from 'sluice'
import { type CommandSpec, type Example, type OptionSpec, queueArgument } from '../../command.ts'
import { usageError } from '../../command-error.ts'
import type { Context } from '../../context.ts'
import { type ExitCode, exitCodes } from '../../exit-codes.ts'
import type { Input } from '../../input.ts'
import { shown } from '../../output/escape.ts'
import { keyFilterOf, keyFilterOptions } from '../../rows/key-filters.ts'
import { knownQueue } from '../../stores/known-queue.ts'

/** The outcome for one key. */
type KeyOutcome = 'changed' | 'unchanged' | 'missing'

/** An operation on keys. */
export interface KeyVerb {
  readonly name: string
  readonly summary: string
  readonly details: string
  /** The outcome for a changed key: `parked`. */
  readonly past: string
  /** The sentence before a confirmation: `park` makes `This will park 5 keys of orders.` */
  readonly imperative: string
  readonly options?: readonly OptionSpec[]
  readonly examples: readonly Example[]
  one(inspect: Inspect, key: string, input: Input): Promise<KeyOutcome>
  many(selection: Selection, options: BulkOptions, input: Input): Promise<BulkResult>
}

/** How many keys are changed at a time. */
const concurrencyMax = 50

/** The command for an operation on named keys, or on every key that matches the options. */
export function keyCommand(verb: KeyVerb): CommandSpec {
  return {
    name: verb.name,
    summary: verb.summary,
    details: `${verb.details} With --all, it applies to every key that matches the options and that it changes, after showing their number and asking.`,
    group: 'Keys',
    positionals: [
      queueArgument,
      { name: 'KEY', summary: 'the keys', kind: 'key', optional: true, variadic: true },
    ],
    options: [
      ...(verb.options ?? []),
      { flags: '--all', summary: 'every key that matches the options, instead of named ones' },
      ...keyFilterOptions,
      { flags: '--limit <N>', summary: 'with --all: the maximum number of keys (default: 10000)' },
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
        if (keys.length > 0) throw usageError('name keys or give --all, not both')
        return await toAll(context, verb, queue, { ...filter, cap: limit })
      }
      if (limit !== undefined || Object.values(filter).some((value) => value !== undefined)) {
        throw usageError('options that select keys require --all')
      }
      if (keys.length === 0) throw usageError('name a KEY, or give --all')
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
  const { inspection } = await context.store('existing')
  const inspect = await knownQueue(context, inspection, queue)
  const results: { key: string; outcome: KeyOutcome }[] = []
  for (let from = 0; from < keys.length; from += concurrencyMax) {
    const some = keys.slice(from, from + concurrencyMax)
    const outcomes = await Promise.all(some.map((key) => verb.one(inspect, key, input)))
    results.push(...some.map((key, index) => ({ key, outcome: outcomes[index] as KeyOutcome })))
  }
  if (print.isDocument) await print.document({ queue, verb: verb.name, results })
  else if (print.format === 'name') await print.names(results.map(({ key }) => key))
  else {
    for (const { key, outcome } of results) {
      if (outcome === 'missing') await print.note(`${shown(key)} does not exist`)
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
  const { inspection } = await context.store('existing')
  const selection = (await knownQueue(context, inspection, queue)).select(filter)
  const result = await verb.many(
    selection,
    {
      async confirm({ count, capped }) {
        if (count === 0) return true
        const more = capped ? ' More keys match.' : ''
        const keys = `${count} ${count === 1 ? 'key' : 'keys'} of ${shown(queue)}`
        const what = `This will ${verb.imperative} ${keys}.${more}`
        if (input.flag('yes')) await print.note(what)
        return await context.confirm(what)
      },
    },
    input,
  )
  if (print.isDocument) await print.document({ queue, verb: verb.name, ...result })
  else if (!result.confirmed) await print.note('nothing was changed')
  else {
    const { changed, unchanged } = result
    const rest = unchanged === 0 ? '' : `, ${unchanged} unchanged`
    await print.lines([`${changed} ${changed === 1 ? 'key' : 'keys'} ${verb.past}${rest}`])
  }
  return result.confirmed ? undefined : exitCodes.usage
}
