// This folder finds what a shell can complete, and has the scripts for each shell.

import type { Argument, Command, Option } from 'commander'
import type { ArgumentSpec, CommandSpec, OptionSpec, WordKind } from '../command.ts'

/** A name that is completed from the store. */
export interface WantedName {
  readonly kind: 'queue' | 'key'
  /** The queue that precedes it, if any. */
  readonly queue?: string
  /** The prefix of each candidate: `--file=`. */
  readonly before?: string
}

/** The kinds of word that are possible at the cursor. */
export type Wanted =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'file' | 'store' | 'context'; readonly before?: string }
  | WantedName
  | { readonly kind: 'nothing' }

/** The analysis of the words before the cursor. */
export interface Reading {
  readonly wanted: Wanted
  /** The beginning of the word at the cursor. */
  readonly start: string
  /** The store that the words name, if any. */
  readonly store?: string | undefined
  /** The context that the words name, if any. */
  readonly context?: string | undefined
}

/** The grammar of the command line: commander's tree, the specifications and the global options. */
export interface Grammar {
  readonly program: Command
  readonly specs: readonly CommandSpec[]
  readonly globals: readonly OptionSpec[]
}

/** Reads the words up to the cursor; the last one is being typed. */
export function readWords({ program, specs, globals }: Grammar, words: readonly string[]): Reading {
  const start = words.at(-1) ?? ''
  let command: Command = program
  let spec: CommandSpec | undefined
  const named: { store?: string | undefined; context?: string | undefined } = {}
  let isOptionsOver = false
  const positionals: string[] = []
  const find = (flag: string): Option | undefined => optionNamed(flag, command, program)
  const before = words.slice(0, -1)
  for (let at = 0; at < before.length; at += 1) {
    const word = before[at] ?? ''
    if (word === '--') {
      isOptionsOver = true
      continue
    }
    if (isOptionsOver || !word.startsWith('-') || word === '-') {
      if (spec !== undefined) positionals.push(word)
      else {
        spec = specs.find(({ name, alias }) => name === word || alias === word)
        command = program.commands.find((each) => each.name() === spec?.name) ?? command
        if (spec === undefined) return { wanted: { kind: 'nothing' }, start }
      }
      continue
    }
    const [flag = '', inline] = partsOf(word)
    const option = find(flag)
    if (option === undefined || option.isBoolean()) continue
    const value = inline ?? before[at + 1]
    if (option.long === '--store') named.store = value
    if (option.long === '--context') named.context = value
    if (inline !== undefined) continue
    at += 1
    // The word being typed is the value of an option.
    if (at === before.length) {
      return { wanted: ofOption(option, spec, globals, positionals[0]), start, ...named }
    }
  }
  const reading = { start, ...named }
  if (!isOptionsOver && start.startsWith('-')) {
    const [flag = '', inline] = start.split(/=(.*)/s)
    const option = inline === undefined ? undefined : find(flag)
    if (option !== undefined && inline !== undefined) {
      const wanted = ofOption(option, spec, globals, positionals[0])
      return { ...reading, wanted: prefixed(wanted, `${flag}=`) }
    }
    return { ...reading, wanted: { kind: 'words', words: flagsOf(command, program) } }
  }
  if (spec === undefined) {
    const names = specs.filter(({ hidden }) => hidden !== true).map(({ name }) => name)
    return { ...reading, wanted: { kind: 'words', words: [...names, 'help'] } }
  }
  return { ...reading, wanted: ofPositional(spec, command, positionals) }
}

/** An option and the value in the same word: `--store=URL` or `-sURL`. */
function partsOf(word: string): string[] {
  if (word.startsWith('--') || word.length <= 2) return word.split(/=(.*)/s)
  return [word.slice(0, 2), word.slice(2)]
}

function prefixed(wanted: Wanted, before: string): Wanted {
  if (wanted.kind === 'nothing') return wanted
  if (wanted.kind !== 'words') return { ...wanted, before }
  return { kind: 'words', words: wanted.words.map((word) => before + word) }
}

function optionNamed(flag: string, command: Command, program: Command): Option | undefined {
  return [...command.options, ...program.options].find(
    ({ short, long }) => short === flag || long === flag,
  )
}

function flagsOf(command: Command, program: Command): string[] {
  const options = [...command.options, ...(command === program ? [] : program.options)]
  return [...options.flatMap(({ long }) => long ?? []), '--help']
}

function ofOption(
  option: Option,
  spec: CommandSpec | undefined,
  globals: readonly OptionSpec[],
  queue: string | undefined,
): Wanted {
  const ours = [...(spec?.options ?? []), ...globals].find(({ flags }) => flags === option.flags)
  if (ours?.choices !== undefined) return { kind: 'words', words: ours.choices }
  return ofKind(ours?.kind ?? 'text', queue)
}

function ofPositional(spec: CommandSpec, command: Command, given: readonly string[]): Wanted {
  const positionals = spec.positionals ?? []
  const isVariadic = (positional: ArgumentSpec | undefined): boolean =>
    positional?.variadic === true
  const positional =
    positionals[given.length] ?? (isVariadic(positionals.at(-1)) ? positionals.at(-1) : undefined)
  if (positional === undefined) return { kind: 'nothing' }
  const argument: Argument | undefined =
    command.registeredArguments[positionals.indexOf(positional)]
  if (argument?.argChoices !== undefined) return { kind: 'words', words: argument.argChoices }
  const queueAt = positionals.findIndex(({ kind }) => kind === 'queue')
  return ofKind(positional.kind, given[queueAt])
}

function ofKind(kind: WordKind, queue: string | undefined): Wanted {
  if (kind === 'text') return { kind: 'nothing' }
  if (kind !== 'key') return { kind }
  return queue === undefined ? { kind: 'nothing' } : { kind, queue }
}
