import { Argument, Command, Option } from 'commander'
import type { ArgumentSpec, CommandSpec, OptionSpec } from './command.ts'
import { commands } from './commands/commands.ts'
import { Input } from './input.ts'
import { formats } from './output/printer.ts'

/** The options that every command has. */
export const globalOptions: readonly OptionSpec[] = [
  {
    flags: '-s, --store <URL>',
    summary: 'the store; @FILE reads its address from a file (default: $SLUICE_STORE)',
    kind: 'store',
  },
  {
    flags: '--context <NAME>',
    summary: 'the store of a context; see `sluice config`',
    kind: 'context',
  },
  {
    flags: '-o, --output <FORMAT>',
    summary: `the output format (default: table)`,
    choices: formats,
  },
  {
    flags: '--fields <MEMBERS>',
    summary:
      'print only these members of what -o json prints, separated by tabs: queue,counts.ready',
  },
  { flags: '--no-headers', summary: 'omit the header of a table' },
  { flags: '--no-color', summary: 'no colours, as with $NO_COLOR' },
  { flags: '-y, --yes', summary: 'confirm without asking' },
  { flags: '--force', summary: 'go on with a queue that the store does not know' },
  { flags: '--timeout <DURATION>', summary: 'give up after this time, such as 30s or 5m' },
  { flags: '--debug', summary: 'show where an error comes from' },
]

/** A parsed command line: the command, its arguments and its options. */
export interface Invocation {
  readonly spec: CommandSpec
  readonly input: Input
}

const intro = 'Inspect, operate and move Sluice queues.'

const outro = `
The store is named by -s, --context or SLUICE_STORE, or it is that of the current context:
  sqlite:./queue.db   sqlite:///srv/queue.db   postgres://user@host/database?schema=sluice
  redis://host:6379?prefix=sluice:   redis-sentinel://host:26379/name   redis-cluster://host:7000,host:7001

Exit codes: 0 done, 1 failed, 2 usage error or not confirmed, 3 unhealthy, 4 no such key or queue.
`

/** Builds the commander program of all commands. `chosen` is called with the command line. */
export function buildProgram(version: string, chosen: (invocation: Invocation) => void): Command {
  const program = new Command('sluice')
    .description(intro)
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [COMMAND]', 'print help for a command')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', outro)
    .exitOverride()
  for (const spec of globalOptions) program.addOption(optionOf(spec))
  for (const spec of commands)
    program.addCommand(commandOf(spec, chosen), { hidden: spec.hidden === true })
  return program
}

function optionOf({ flags, summary, choices, repeatable }: OptionSpec): Option {
  const option = new Option(flags, summary)
  if (choices !== undefined) option.choices(choices)
  if (repeatable === true) {
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value])
  }
  return option
}

function argumentOf({ name, summary, optional, variadic, choices }: ArgumentSpec): Argument {
  const dots = variadic === true ? '...' : ''
  const argument = new Argument(
    optional === true ? `[${name}${dots}]` : `<${name}${dots}>`,
    summary,
  )
  return choices === undefined ? argument : argument.choices(choices)
}

function commandOf(spec: CommandSpec, chosen: (invocation: Invocation) => void): Command {
  const command = new Command(spec.name)
    .summary(spec.summary)
    .description(
      spec.details === undefined ? `${spec.summary}.` : `${spec.summary}. ${spec.details}`,
    )
    .helpOption('-h, --help', 'print help')
    .helpGroup(`${spec.group}:`)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .action(() => {
      chosen({ spec, input: new Input(command.args, command.optsWithGlobals()) })
    })
  if (spec.alias !== undefined) command.alias(spec.alias)
  for (const each of spec.positionals ?? []) command.addArgument(argumentOf(each))
  for (const each of spec.options ?? []) command.addOption(optionOf(each))
  if (spec.takesAnything === true) command.allowUnknownOption().allowExcessArguments()
  const examples = spec.examples ?? []
  if (examples.length > 0) {
    const lines = examples.map(({ line, does }) => `  # ${does}\n  ${line}`)
    command.addHelpText('after', `\nExamples:\n${lines.join('\n')}\n`)
  }
  return command
}
