import type { CommandSpec } from '../../command.ts'
import { CommandError, usageError } from '../../command-error.ts'
import { type ExitCode, exitCodes } from '../../exit-codes.ts'
import { flagOf, type Input } from '../../input.ts'

/** The options with a value, which are passed on to the suite. */
const valued = [
  'seed',
  'modelRuns',
  'histories',
  'timeoutMs',
  'hintMs',
  'path',
  'replayPath',
] as const

function argvOf(input: Input): string[] {
  const argv = [...input.positionals(0)]
  for (const name of ['only', 'except']) {
    for (const text of input.texts(name)) argv.push(`${flagOf(name)}=${text}`)
  }
  for (const name of valued) {
    const text = input.text(name)
    if (text !== undefined) argv.push(`${flagOf(name)}=${text}`)
  }
  if (input.flag('list')) argv.push('--list')
  if (input.flag('json') || input.text('output') === 'json') argv.push('--json')
  return argv
}

/** The suite, which most users of the command line do not need, and which is larger than the rest. */
async function loaded(): Promise<typeof import('@sluice/conformance/cli')> {
  try {
    return await import('@sluice/conformance/cli')
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new CommandError(
      'ERR_UNSUPPORTED',
      'the conformance suite is not installed: npm install --save-dev @sluice/conformance',
      exitCodes.failed,
      error,
    )
  }
}

export const conformance: CommandSpec = {
  name: 'conformance',
  summary: 'Test a driver of your own with the conformance suite',
  details:
    'The module exports `create`, a function that returns a subject; see @sluice/conformance, which has to be installed, too.',
  group: 'More',
  positionals: [
    { name: 'MODULE', summary: 'the module with the driver', kind: 'file', optional: true },
  ],
  options: [
    {
      flags: '--only <ID>',
      summary: 'only this case, or this group of cases: done, or done.*',
      repeatable: true,
    },
    { flags: '--except <ID=WHY>', summary: 'a promise broken on purpose', repeatable: true },
    { flags: '--seed <N>', summary: 'the seed of randomness; a run prints its own' },
    { flags: '--model-runs <N>', summary: 'how many histories are compared with the model' },
    { flags: '--histories <N>', summary: 'how many concurrent histories are checked' },
    { flags: '--timeout-ms <MS>', summary: 'how long one case may take, for a slow store' },
    { flags: '--hint-ms <MS>', summary: 'how long a wake from another process may take' },
    { flags: '--path <P>', summary: 'with --replay-path: repeat one failed comparison' },
    { flags: '--replay-path <P>', summary: 'see --path' },
    { flags: '--list', summary: 'list the cases, and run none' },
    { flags: '--json', summary: 'print one JSON document; so does -o json' },
  ],
  examples: [{ line: 'sluice conformance ./my-driver.js --only done', does: 'a part of it' }],
  async run({ input, terminal }): Promise<ExitCode> {
    const argv = argvOf(input)
    const { runCommandLine } = await loaded()
    const { stdout, stderr } = terminal
    // Writes are queued in order; the last one is awaited.
    let written = Promise.resolve()
    const isJson = input.text('output') === 'json'
    let said = ''
    const code = await runCommandLine(argv, {
      cwd: terminal.cwd,
      isTerminal: stderr.isTTY,
      out: (text) => {
        written = written.then(() => stdout.write(text))
      },
      err: (text) => {
        said += text
        if (!isJson) written = written.then(() => stderr.write(text))
      },
    })
    await written
    if (isJson && said !== '') {
      // The usage of the suite comes after an empty line.
      if (code === 2) throw usageError(said.split('\n\n')[0] as string)
      throw new CommandError('ERR_UNSUPPORTED', said.trimEnd(), exitCodes.failed)
    }
    return code === 0 ? exitCodes.ok : code === 2 ? exitCodes.usage : exitCodes.failed
  },
}
