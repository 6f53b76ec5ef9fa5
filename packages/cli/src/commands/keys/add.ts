import { type AddOutcome, keyOfItem, priorityMax, priorityMin } from '@sluice/core'
import type { OperatorAsk } from 'sluice'
import { type CommandSpec, queueArgument } from '../../command.ts'
import { CommandError, usageError } from '../../command-error.ts'
import type { Context } from '../../context.ts'
import { checkedItem, checkedKey, parsedJson } from '../../input.ts'
import { shown } from '../../output/escape.ts'
import { addKey } from './add-key.ts'

/** How many keys of stdin are looked up at a time. A store far away must answer all of them within a call's timeout. */
const lookedUpMax = 100

export const add: CommandSpec = {
  name: 'add',
  summary: 'Add keys',
  details:
    'Prints for each key whether it was added, moved (it runs earlier), unchanged (its run was already pending) or parked. A stored key keeps its item. Creates a missing SQLite file.',
  group: 'Keys',
  positionals: [
    queueArgument,
    { name: 'KEY', summary: 'the keys', kind: 'key', optional: true, variadic: true },
  ],
  options: [
    { flags: '--item <JSON>', summary: 'the item; without KEY, the item is its own key' },
    { flags: '--priority <N>', summary: 'from -1000 to 1000, higher first (default: 0)' },
    { flags: '--stdin', summary: 'read keys from stdin, one per line' },
    { flags: '--items', summary: 'with --stdin: each line is an item, as JSON' },
  ],
  examples: [
    { line: 'sluice add orders order/42 order/43', does: 'two keys' },
    { line: `sluice add orders --item '{"id":42}'`, does: 'an item that is its own key' },
    { line: 'sluice add orders --stdin < keys.txt', does: 'one key per line' },
  ],
  json: '{ queue, results: [{ key, outcome }] }, or with --stdin { queue, added, moved, unchanged, parked, full }',
  async run(context) {
    const { input } = context
    const queue = input.queue()
    const keys = input.keys(1)
    const item = input.json('item')
    const priority = input.whole('priority', { min: priorityMin, max: priorityMax })
    if (input.flag('stdin')) {
      if (keys.length > 0 || item !== undefined)
        throw usageError('--stdin takes no KEY and no --item')
      return await addLines(context, queue, priority)
    }
    if (input.flag('items')) throw usageError('--items goes with --stdin')
    if (item !== undefined && keys.length > 1) throw usageError('--item takes one KEY only')
    if (item === undefined && keys.length === 0) {
      throw usageError('name a KEY, or give --item or --stdin')
    }
    const asks: OperatorAsk[] =
      keys.length === 0
        ? [{ item: checkedItem(item), priority }]
        : keys.map((key) => ({ key, item, priority }))
    await addAll(context, queue, asks)
  },
}

/** Adds the named keys and prints their outcomes. */
async function addAll(
  context: Context,
  queue: string,
  asks: readonly OperatorAsk[],
): Promise<void> {
  const { print } = context
  const { inspection } = await context.store('create')
  const results: { key: string; outcome: string }[] = []
  for (const ask of asks) {
    const outcome = await addKey(inspection, queue, ask)
    results.push({ key: ask.key ?? keyOfItem(ask.item), outcome })
  }
  if (print.isDocument) return await print.document({ queue, results })
  if (print.format === 'name') return await print.names(results.map(({ key }) => key))
  await print.lines(results.map(({ key, outcome }) => `${shown(key)} ${outcome}`))
}

/** Adds the keys or items of stdin and prints how many had which outcome. */
async function addLines(
  context: Context,
  queue: string,
  priority: number | undefined,
): Promise<void> {
  const { input, print, terminal } = context
  const { inspection } = await context.store('create')
  const tally: Record<AddOutcome, number> = { added: 0, moved: 0, unchanged: 0, parked: 0, full: 0 }
  let asks: { readonly ask: OperatorAsk; readonly line: number }[] = []
  let number = 0
  const flush = async (): Promise<void> => {
    const batch = asks
    asks = []
    const added = await Promise.allSettled(
      batch.map(({ ask, line }) =>
        addKey(inspection, queue, ask).catch((error: unknown) => {
          // Whether a key needs an item is known only when it is not found in the store.
          throw error instanceof CommandError ? badLine(line, error, ' and some after it') : error
        }),
      ),
    )
    for (const each of added) {
      if (each.status === 'rejected') throw each.reason
      tally[each.value] += 1
    }
    await print.progress(`${number} lines`)
  }
  try {
    for await (const line of terminal.stdin.lines()) {
      number += 1
      if (line === '') continue
      const ask = { ...lineAsk(line, number, input.flag('items')), priority }
      asks.push({ ask, line: number })
      if (asks.length >= lookedUpMax) await flush()
    }
  } finally {
    // The lines before a bad one, too, as its error says.
    await flush()
    await print.endProgress()
  }
  if (print.isDocument) await print.document({ queue, ...tally })
  else {
    const parts = Object.entries(tally).filter(([, count]) => count > 0)
    await print.lines([
      parts.map(([word, count]) => `${count} ${word}`).join(', ') || 'nothing to add',
    ])
  }
}

function lineAsk(line: string, number: number, isItem: boolean): OperatorAsk {
  try {
    return isItem ? { item: checkedItem(parsedJson('it', line)) } : { key: checkedKey(line) }
  } catch (error) {
    throw badLine(number, error, '')
  }
}

function badLine(number: number, error: unknown, others: string): Error {
  return usageError(
    `line ${number} cannot be added: ${(error as Error).message}; the lines before it${others} were added`,
    error,
  )
}
