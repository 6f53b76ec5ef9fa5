import { join } from 'node:path'
import type { Argument, Command, Option } from 'commander'
import { expect, test } from 'vitest'
import { commands } from '../src/commands/commands.ts'
import { describeProgram } from '../src/run-cli.ts'

const preface = `# The command line

Generated from the commands by \`npm test -- --project cli reference -u\`. To get started, see the
[README of \`@sluice/cli\`](../../packages/cli/README.md).

## The store

\`-s\` or \`SLUICE_STORE\` gives the address of the store. \`-s @FILE\` reads it from a file, which keeps it
out of process lists and shell histories. Passwords in addresses are never printed.

| address | store |
| --- | --- |
| \`sqlite:./queue.db\`, \`./queue.db\` | a SQLite file, relative to the current folder |
| \`sqlite:///srv/queue.db\` | a SQLite file by its absolute path |
| \`postgres://user:password@host:5432/database\` | a Postgres database, with every parameter that \`pg\` supports |
| \`…?schema=jobs\` | a Postgres database, with a schema other than \`sluice\` |
| \`redis://user:password@host:6379/0\` | a Redis server; \`rediss://\` with TLS, \`unix:///path\` by its socket |
| \`redis-sentinel://host:26379,host:26379/name\` | the primary that sentinels know by this name |
| \`redis-cluster://host:7000,host:7001\` | a Redis cluster |
| \`…?prefix=jobs:\` | the beginning of all keys in Redis, if it is not \`sluice:\`; \`one-slot=true\` for a driver with \`oneSlot\` |
| \`memory:\` | a store of this command only, for \`bench\` |

A missing file is created by \`add\`, \`add-after\`, \`import\`, \`migrate\` and as the target of \`copy\` and
\`move\`, and by no other command. Only \`migrate\` changes the schema of an existing store.

## Contexts

\`sluice config set NAME URL\` names a store, and \`--context NAME\` uses it. Which store a command uses:
\`-s\` or \`--context\`, or else \`SLUICE_STORE\`, or else the current context, which is the first one that was
set or the one of \`sluice config use\`. Instead of an address, a context may be \`@FILE\` or \`$VARIABLE\`, which
is where an address with a password belongs.

## Output

Data goes to stdout; questions, progress, warnings and errors go to stderr.

| \`-o\` | prints |
| --- | --- |
| \`table\` | columns for people; may change in any version |
| \`wide\` | more columns |
| \`json\` | one document, described with each command; within a major version, members are only added |
| \`yaml\` | the same document as YAML |
| \`name\` | names, one per line |

Instants are milliseconds since 1970, with fractions, in documents, and ages such as \`2m5s\` in tables. Unknown values are
left out of a document, and shown as \`<none>\` in a table. With \`--watch\`, a document is one line per
change: \`{"event":"row","row":{…}}\`, or \`{"event":"gone","name":"…"}\`.

A command about every queue prints what it can read. Then it fails with the error of each queue that is
damaged, or that a newer version has stored; a watch warns of each once, and goes on.

A key or a name with control or invisible characters is shown as a JSON string; so is one that begins
with a quotation mark. \`-o json\` contains all of them exactly.

\`--fields queue,counts.ready\` prints only these members: a line for each element of a list, or one line for
a document that is no list, separated by tabs. A member that is missing is empty; what is not a string is
JSON.

Durations are written as \`500ms\`, \`5s\`, \`1m30s\`, \`2h\`, \`1d\`.

## Exit codes

| code | meaning |
| --- | --- |
| 0 | success |
| 1 | failed; a line on stderr says why, with a [code](errors.md) |
| 2 | usage error, or not confirmed; nothing was changed. \`add --stdin\` has added the lines before a bad one |
| 3 | \`doctor\` found a problem |
| 4 | a named queue, a context to use or to delete, or triggers to drop, do not exist, and nothing was changed; or a named key does not exist, and the other keys were changed |
| 130, 143, 129 | ended by SIGINT, SIGTERM, SIGHUP |

A reader that stops reading, such as \`head\`, is not an error; a command that watches ends with the next line
that it prints after that. Output that cannot be written, as on a full disk, is an error. In addition to the codes of the library, there are
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

test('every command has a summary of one line without a full stop', () => {
  for (const { name, summary, details } of commands) {
    expect(summary, name).toMatch(/^[A-Z].*[^.]$/)
    expect(summary.length, name).toBeLessThan(80)
    if (details !== undefined) expect(details, name).toMatch(/[.]$/)
  }
})
