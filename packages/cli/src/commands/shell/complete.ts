import type { CommandSpec } from '../../command.ts'
import {
  type Reading,
  readWords,
  type Wanted,
  type WantedName,
} from '../../completion/candidates.ts'
import type { Context } from '../../context.ts'
import { parseDuration } from '../../duration.ts'
import { isPlain } from '../../output/escape.ts'
import { readContexts, storeOfContext } from '../../stores/contexts.ts'
import type { OpenStore } from '../../stores/open-store.ts'
import { aborted } from '../../wait.ts'

/** The maximum number of keys that are offered. */
const keysMax = 100

/** The default time to wait for a store; it is short, since the user is typing. */
const patienceDefault = '2s'

async function storeWords(
  context: Context,
  wanted: WantedName,
  text: string,
  named: Pick<Reading, 'store' | 'context'>,
): Promise<readonly string[]> {
  const address =
    named.context === undefined ? named.store : storeOfContext(context.terminal, named.context)
  const open = (): Promise<OpenStore> =>
    address === undefined ? context.store('existing') : context.storeAt(address, 'existing')
  const { inspection } = await open()
  if (wanted.kind === 'queue') return await inspection.queues()
  const inspect = inspection.queue(wanted.queue ?? '')
  const page = await inspect.list({ prefix: text, limit: keysMax })
  return page.keys.map(({ key }) => key)
}

async function wordsFor(
  context: Context,
  wanted: Wanted,
  start: string,
  named: Pick<Reading, 'store' | 'context'>,
): Promise<readonly string[]> {
  switch (wanted.kind) {
    case 'words':
      return wanted.words
    case 'file':
      return [':files']
    case 'store':
      return ['sqlite:', 'postgres://', 'redis://'].map((word) => (wanted.before ?? '') + word)
    case 'context':
      return Object.keys(readContexts(context.terminal).stores).map(
        (name) => (wanted.before ?? '') + name,
      )
    case 'nothing':
      return []
    default: {
      const { before = '' } = wanted
      const found = await storeWords(context, wanted, start.slice(before.length), named)
      return found.map((word) => before + word)
    }
  }
}

export const complete: CommandSpec = {
  name: '__complete',
  summary: 'Print the completions of the last of these words',
  group: 'More',
  hidden: true,
  takesAnything: true,
  async run(context) {
    const words = context.input.positionals(0)
    const reading = readWords(context.grammar, words)
    const { wanted, start } = reading
    try {
      const { clock, env } = context.terminal
      const patienceText = env['SLUICE_COMPLETION_TIMEOUT'] ?? patienceDefault
      const patienceMs = parseDuration('SLUICE_COMPLETION_TIMEOUT', patienceText)
      const patience = new AbortController()
      const timer = clock.startTimer(patienceMs, () => patience.abort())
      context.defer(() => void timer.stop())
      const found = await Promise.race([
        wordsFor(context, wanted, start, reading),
        aborted(patience.signal).promise,
      ])
      const fitting = found.filter((word) => word === ':files' || word.startsWith(start))
      // A name that a terminal cannot show cannot be completed.
      await context.print.lines(fitting.filter(isPlain))
    } catch {
      // A shell cannot show an error during completion; nothing is offered.
    }
  },
}
