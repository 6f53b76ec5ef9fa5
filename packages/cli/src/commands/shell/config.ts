import { resolve } from 'node:path'
import type { CommandSpec } from '../../command.ts'
import { notFoundError, usageError } from '../../command-error.ts'
import type { Context } from '../../context.ts'
import { oneLine, shown } from '../../output/escape.ts'
import {
  type Contexts,
  changeContexts,
  contextsFile,
  readContexts,
  refusePassword,
  unknownContext,
} from '../../stores/contexts.ts'
import { parseStoreAddress } from '../../stores/store-address.ts'

const acts = ['list', 'set', 'use', 'delete'] as const

/** The address as it is kept: independent of the folder in which it was given. */
function keptAddress({ terminal: { cwd } }: Context, text: string): string {
  if (/^\$\w+$/.test(text)) return text
  if (text.startsWith('@')) return `@${resolve(cwd, text.slice(1))}`
  refusePassword(text)
  const address = parseStoreAddress(text, cwd)
  return address.kind === 'sqlite' ? `sqlite:${address.file}` : text
}

/** Changes the contexts, and says what was done. */
function changed(context: Context, { current, stores }: Contexts): [Contexts, string] {
  const { input } = context
  const [act = '', name, text, ...rest] = input.positionals(0)
  if (name === undefined || name === '') {
    throw usageError(`name a context, as in \`sluice config ${act} prod\``)
  }
  if ((act === 'set') !== (text !== undefined) || rest.length > 0) {
    throw usageError(
      'a context is set to one store: `sluice config set prod postgres://user@host/db`',
    )
  }
  if (text !== undefined) {
    const address = keptAddress(context, text)
    const now = { current: current ?? name, stores: { ...stores, [name]: address } }
    return [now, `${shown(name)} is ${oneLine(address)}`]
  }
  if (!Object.hasOwn(stores, name)) throw notFoundError(unknownContext(name, Object.keys(stores)))
  if (act === 'use') return [{ current: name, stores }, `${shown(name)} is used from now on`]
  const { [name]: _, ...left } = stores
  const kept = current === undefined || current === name ? {} : { current }
  return [{ ...kept, stores: left }, `${shown(name)} deleted`]
}

export const config: CommandSpec = {
  name: 'config',
  summary: 'List and change contexts: names for stores',
  details:
    'A context is an address of a store, @FILE for the address in a file, or $VARIABLE for the one in a variable; an address with a password is refused. The first one that is set is used by commands without -s, --context and $SLUICE_STORE; `use` changes that. They are kept in the file that $SLUICE_CONFIG names, or else in sluice/config.json in $XDG_CONFIG_HOME, or in $APPDATA, or in ~/.config.',
  group: 'More',
  positionals: [
    {
      name: 'ACT',
      summary: 'what to do (default: list)',
      kind: 'text',
      choices: acts,
      optional: true,
    },
    { name: 'NAME', summary: 'the context', kind: 'context', optional: true },
    { name: 'URL', summary: 'its store, for `set`', kind: 'store', optional: true },
  ],
  examples: [
    { line: 'sluice config set dev sqlite:./queue.db', does: 'a file, by its absolute path' },
    { line: "sluice config set prod '$DATABASE_URL'", does: 'the store that a variable names' },
    { line: 'sluice config use prod', does: 'for commands that name no store' },
    { line: 'sluice queues --context dev', does: 'another one, once' },
  ],
  json: '{ file, contexts: [{ name, store, isCurrent }] }',
  async run(context) {
    const { input, print, terminal } = context
    if ((input.positional(0) ?? 'list') === 'list') {
      if (input.positional(1) !== undefined) {
        throw usageError('`sluice config list` takes no NAME: it lists all contexts')
      }
    } else {
      const [, words] = await changeContexts(terminal, (before) => {
        const after = changed(context, before)
        return [after[0], after]
      })
      if (!print.isDocument) return await print.note(words)
    }
    const contexts = readContexts(terminal)
    const rows = Object.entries(contexts.stores).map(([name, store]) => ({
      name,
      store,
      isCurrent: name === contexts.current,
    }))
    await print.listing({
      rows,
      columns: () => [
        { title: 'CURRENT', text: ({ isCurrent }) => (isCurrent ? '*' : '-') },
        { title: 'NAME', text: ({ name }) => shown(name) },
        { title: 'STORE', text: ({ store }) => oneLine(store) },
      ],
      name: ({ name }) => name,
      document: () => ({ file: contextsFile(terminal), contexts: rows }),
      none: 'no contexts; `sluice config set dev sqlite:./queue.db` makes one',
    })
  },
}
