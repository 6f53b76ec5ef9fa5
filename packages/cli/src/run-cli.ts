import { type Command, CommanderError } from 'commander'
import { usageError } from './command-error.ts'
import { commands } from './commands/commands.ts'
import { exitCodes } from './exit-codes.ts'
import { manifest } from './manifest.ts'
import { type Fields, parseFields } from './output/fields.ts'
import { formats, Printer } from './output/printer.ts'
import { reportError } from './output/report-error.ts'
import { buildProgram, globalOptions, type Invocation } from './program.ts'
import { Run } from './run.ts'
import { Secrets } from './stores/secrets.ts'
import { Interrupted, type Terminal } from './terminal.ts'

/** The program with all commands, from which the reference and the completion are generated. */
export function describeProgram(): Command {
  return buildProgram(manifest().version, () => undefined)
}

/** The output before a command runs: help, or commander's error. */
interface Said {
  out: string
  err: string
}

function parsed(argv: readonly string[], terminal: Terminal, said: Said): Invocation | undefined {
  let invocation: Invocation | undefined
  const program = buildProgram(manifest().version, (one) => {
    invocation = one
  })
  const { stdout, stderr } = terminal
  for (const each of [program, ...program.commands]) {
    each.configureOutput({
      writeOut: (text) => {
        said.out += text
      },
      writeErr: (text) => {
        said.err += text
      },
      getOutHelpWidth: () => stdout.columns ?? 100,
      getErrHelpWidth: () => stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
  }
  if (argv.length === 0) {
    program.outputHelp()
    return undefined
  }
  try {
    program.parse([...argv], { from: 'user' })
  } catch (error) {
    // Help and the version are no errors.
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return invocation
    // Commander gives no detail for `help` with an unknown command.
    if (error.code === 'commander.help')
      throw usageError(`unknown command '${program.args[1]}'; see \`sluice --help\``)
    throw error
  }
  return invocation
}

/** Commander's error as a usage error in one line that refers to help. */
function asUsage({ message, code }: CommanderError, argv: readonly string[]): Error {
  const text = message
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean ([^)]*)\)/, '; did you mean $1')
    .replace(/\.$/, '')
    .replace(/^unknown option '-[^-]*'$/, '$&; if it is a key, put -- before it')
  const names = new Set(commands.flatMap(({ name, alias }) => [name, alias]))
  const name =
    code === 'commander.unknownCommand' ? undefined : argv.find((word) => names.has(word))
  const see = text.endsWith('?') ? ' See' : '; see'
  return usageError(`${text.trim()}${see} \`sluice ${name === undefined ? '' : `${name} `}--help\``)
}

/** The format that a command line asks for which could not be parsed. */
function formatIn(argv: readonly string[]): string | undefined {
  const at = argv.findIndex((word) => word === '-o' || word === '--output')
  if (at >= 0) return argv[at + 1]
  return argv.map((word) => /^(?:-o|--output=)(.+)$/.exec(word)?.[1]).find((text) => text)
}

function fieldsIn({ input }: Invocation): Fields | undefined {
  const text = input.text('fields')
  return text === undefined ? undefined : parseFields(text)
}

function printerOf(
  invocation: Invocation | undefined,
  terminal: Terminal,
  argv: readonly string[],
  fields?: Fields,
): Printer {
  const { input } = invocation ?? {}
  const wanted = input === undefined ? formatIn(argv) : input.text('output')
  const format = formats.find((one) => one === wanted) ?? 'table'
  const isAllowed = (name: string): boolean => input === undefined || input.flag(name)
  return new Printer(terminal, {
    format,
    fields,
    headers: isAllowed('headers'),
    colours: isAllowed('color'),
  })
}

/**
 * Runs one command line and resolves to its exit code. Never rejects, and uses nothing of the process
 * but the given terminal.
 */
export async function runCli(argv: readonly string[], terminal: Terminal): Promise<number> {
  const secrets = new Secrets()
  for (const text of [...argv, terminal.env['SLUICE_STORE'] ?? '']) secrets.addFrom(text)
  secrets.add(terminal.env['PGPASSWORD'])
  const said: Said = { out: '', err: '' }
  const isDebug = argv.includes('--debug')
  let invocation: Invocation | undefined
  try {
    invocation = parsed(argv, terminal, said)
    if (invocation === undefined) {
      await printerOf(invocation, terminal, argv).data(said.out)
      return exitCodes.ok
    }
    return await new Run(invocation, {
      terminal,
      print: printerOf(invocation, terminal, argv, fieldsIn(invocation)),
      secrets,
      grammar: { program: describeProgram(), specs: commands, globals: globalOptions },
    }).toEnd()
  } catch (error) {
    if (error instanceof Interrupted) return error.exitCode
    const reason = error instanceof CommanderError ? asUsage(error, argv) : error
    return await reportError(reason, printerOf(invocation, terminal, argv), secrets, isDebug)
  }
}
