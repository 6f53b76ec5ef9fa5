import { join } from 'node:path'
import type { Argument, Command, Option } from 'commander'
import { expect, test } from 'vitest'
import { commands } from '../src/commands/commands.ts'
import { describeProgram } from '../src/run-cli.ts'

const preface = `# The command line

Made from the commands themselves; \`npm test -- --project cli reference -u\` makes it anew. How to
begin is in the [README of \`@sluice/cli\`](../../packages/cli/README.md).

## The store

\`-s\` names it, or \`SLUICE_STORE\`. \`-s @FILE\` reads the address from a file, so that it stands in no
list of processes and no history of a shell. No address of a store with a password is ever printed
whole.

| address | is |
| --- | --- |
| \`sqlite:./queue.db\`, \`./queue.db\` | a SQLite file, from the folder one is in |
| \`sqlite:///srv/queue.db\` | a SQLite file by its whole path |
| \`postgres://user:password@host:5432/database\` | a Postgres, with all that \`pg\` knows of such addresses |
| \`…?schema=jobs\` | the same, in another schema than \`sluice\` |
| \`memory:\` | a store of this one command, for \`bench\` alone |

A file that is not there is made by \`add\`, \`add-after\`, \`import\`, \`migrate\` and as the target of
\`copy\` and \`move\`, and by no other command. Only \`migrate\` changes the schema of a store that is there.

## What is printed

Data goes to stdout, and everything else (questions, progress, warnings, errors) to stderr.

| \`-o\` | prints |
| --- | --- |
| \`table\` | columns for people; may change at any time |
| \`wide\` | more columns |
| \`json\` | one document, as described with each command; members are added, and none is taken away or changed within a major version |
| \`yaml\` | the same document as YAML |
| \`name\` | names, one to a line |

Instants are milliseconds since 1970 in documents, and ages such as \`2m5s\` in tables. What is not known
or does not apply is left out of a document, and \`<none>\` in a table. With \`--watch\` a document is one
line for each change: \`{"event":"row","row":{…}}\`, or \`{"event":"gone","name":"…"}\`.

A key or a name with characters that a terminal would obey, or that nobody sees, is shown as a JSON
string; so is one that begins with a quotation mark. \`-o json\` has all of them exactly.

Durations are typed as \`500ms\`, \`5s\`, \`1m30s\`, \`2h\`, \`1d\`.

## How it exits

| code | means |
| --- | --- |
| 0 | it was done |
| 1 | it could not be done; a line on stderr says why, with a [code](errors.md) |
| 2 | it was called wrongly, or not confirmed; nothing was done |
| 3 | \`doctor\` has found something that is not as it has to be |
| 4 | a key that was named is not there; others were worked on |
| 130, 143, 129 | it was ended by SIGINT, SIGTERM, SIGHUP |

A reader that has seen enough, such as \`head\`, is no error. Besides the codes of the library there are
\`ERR_USAGE\`, \`ERR_NOT_CONFIRMED\`, \`ERR_NOT_FOUND\`, \`ERR_FILE\`, \`ERR_UNSUPPORTED\` and
\`ERR_UNEXPECTED\`. \`--debug\` shows where an error comes from.
`

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``

function optionTable(heading: string, options: readonly Option[]): string[] {
  const shown = options.filter(({ hidden }) => !hidden)
  if (shown.length === 0) return []
  return [
    '',
    `| ${heading} | |`,
    '| --- | --- |',
    ...shown.map(({ flags, description, argChoices }) => {
      const choices = argChoices === undefined ? '' : `: ${argChoices.map(code).join(' ')}`
      return `| ${code(flags)} | ${description.replaceAll('|', '\\|')}${choices} |`
    }),
  ]
}

function argumentTable(values: readonly Argument[]): string[] {
  if (values.length === 0) return []
  return [
    '',
    '| argument | |',
    '| --- | --- |',
    ...values.map(({ description, argChoices, ...value }) => {
      const choices = argChoices === undefined ? '' : `: ${argChoices.map(code).join(' ')}`
      return `| ${code((value as Argument & { _name: string })._name)} | ${description}${choices} |`
    }),
  ]
}

function section(command: Command): string[] {
  const spec = commands.find(({ name }) => name === command.name())
  const { examples = [], json } = spec ?? {}
  const also = command.aliases().map((alias) => `, also ${code(`sluice ${alias}`)}`)
  return [
    '',
    `### ${command.name()}`,
    '',
    `${code(`sluice ${command.name()} ${command.usage()}`)}${also.join('')}`,
    '',
    command.description(),
    ...argumentTable(command.registeredArguments),
    ...optionTable('option', command.options),
    ...(json === undefined ? [] : ['', `\`-o json\`: ${code(json)}`]),
    ...(examples.length === 0
      ? []
      : ['', '```sh', ...examples.map(({ line, does }) => `${line}   # ${does}`), '```']),
  ]
}

test('the page of the command line is the one that the commands make', async () => {
  const program = describeProgram()
  const visible = program.commands.filter(
    (command) => commands.find(({ name }) => name === command.name())?.hidden !== true,
  )
  const groups = [...new Set(visible.map((command) => command.helpGroup()))]
  const page = [
    preface,
    '## Options of every command',
    ...optionTable('option', program.options),
    ...groups.flatMap((group) => [
      '',
      `## ${group.replace(':', '')}`,
      ...visible.filter((command) => command.helpGroup() === group).flatMap(section),
    ]),
    '',
  ]
  const root = join(import.meta.dirname, '..', '..', '..')
  await expect(page.join('\n')).toMatchFileSnapshot(join(root, 'docs', 'reference', 'cli.md'))
})

test('every command says what it does, in a line that needs no full stop', () => {
  for (const { name, summary, details } of commands) {
    expect(summary, name).toMatch(/^[A-Z].*[^.]$/)
    expect(summary.length, name).toBeLessThan(80)
    if (details !== undefined) expect(details, name).toMatch(/[.]$/)
  }
})
