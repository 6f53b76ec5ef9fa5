import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CommandSpec } from '../../command.ts'
import { usageError } from '../../command-error.ts'
import type { Context } from '../../context.ts'
import { wait } from '../../wait.ts'

const loopback = new Set(['localhost', '127.0.0.1', '::1'])

/** The addresses that are reached by any name of the machine. */
const anyHost = new Set(['0.0.0.0', '::'])

/** The minimum length of a token; a shorter one can be guessed. */
const tokenCharactersMin = 16

/** How long a single wait for a signal lasts, in milliseconds; it is repeated. */
const foreverMs = 86_400_000

/** The authentication of the dashboard, and whether its token was generated. */
interface SignIn {
  readonly token: string | undefined
  readonly isMadeUp: boolean
}

async function signInOf(context: Context, host: string): Promise<SignIn> {
  const { input, print, secrets, terminal } = context
  const file = input.text('tokenFile')
  const given = file === undefined ? terminal.env['SLUICE_DASHBOARD_TOKEN'] : tokenIn(context, file)
  if (file !== undefined && (statSync(resolve(terminal.cwd, file)).mode & 0o077) !== 0) {
    await print.warn('other users of this machine can read the token file')
  }
  const isNeeded = input.flag('allowActions') || !loopback.has(host)
  const isMadeUp = given === undefined && isNeeded
  const token = isMadeUp ? terminal.uniqueId() + terminal.uniqueId() : given
  secrets.add(token)
  if (token !== undefined && token.length < tokenCharactersMin) {
    throw usageError(`the token must be at least ${tokenCharactersMin} characters long`)
  }
  return { token, isMadeUp }
}

function tokenIn({ terminal }: Context, file: string): string {
  const path = resolve(terminal.cwd, file)
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw usageError(`the token file cannot be read: ${path}`, error)
  }
}

async function browse({ print, terminal }: Context, url: string): Promise<void> {
  if (await terminal.browse(url)) return
  await print.warn('no browser could be started; open the address manually')
}

export const dashboard: CommandSpec = {
  name: 'dashboard',
  summary: 'Serve a dashboard of a store, and print its address',
  details:
    'On this machine only, and read-only, by default. --allow-actions and another --host require a token: that of --token-file or of $SLUICE_DASHBOARD_TOKEN, or a random one, which is printed.',
  group: 'Inspect',
  positionals: [
    { name: 'URL', summary: 'the store (default: as with -s)', kind: 'store', optional: true },
  ],
  options: [
    { flags: '--port <N>', summary: 'the port to listen on (default: a free port)' },
    { flags: '--host <NAME>', summary: 'the address to listen on (default: 127.0.0.1)' },
    {
      flags: '--allow-host <NAME>',
      summary: 'another name that it answers to, such as that of this machine',
      repeatable: true,
    },
    { flags: '--allow-actions', summary: 'let signed-in users change keys and queues' },
    {
      flags: '--token-file <FILE>',
      summary: 'a file with the token to sign in with',
      kind: 'file',
    },
    { flags: '--open', summary: 'open it in a browser' },
  ],
  examples: [
    { line: 'sluice dashboard sqlite:./queue.db --open', does: 'a SQLite file' },
    {
      line: 'sluice dashboard --allow-actions --port 8080',
      does: 'with actions, after signing in',
    },
  ],
  json: '{ url, openUrl }',
  async run(context) {
    const { input, print, signal, terminal } = context
    const url = input.positional(0)
    const host = input.text('host') ?? '127.0.0.1'
    const port = input.whole('port', { min: 0, max: 65_535 }) ?? 0
    const hosts = input.texts('allowHost')
    const { token, isMadeUp } = await signInOf(context, host)
    const store =
      url === undefined ? await context.store('existing') : await context.storeAt(url, 'existing')
    // A store that cannot be opened is reported here rather than in a browser.
    await store.inspection.now()
    const { serveDashboard } = await import('@sluice/dashboard/node')
    const serving = await serveDashboard(
      {
        driver: store.driver,
        storeName: store.address.label,
        allowActions: input.flag('allowActions'),
        auth: token === undefined ? undefined : { token },
        hosts: hosts.length === 0 ? undefined : hosts,
      },
      { port, host },
    )
    context.defer(() => serving.close())
    const { signInUrl = serving.url } = serving
    const address = isMadeUp ? signInUrl : serving.url
    if (print.isDocument) await print.document({ url: serving.url, openUrl: address })
    else await print.lines([address])
    if (token !== undefined && !isMadeUp) await print.note('sign in with your token')
    if (anyHost.has(host) && hosts.length === 0) {
      await print.note('only this address is answered; --allow-host NAME allows another one')
    }
    if (input.flag('open')) void browse(context, signInUrl)
    await print.note(`serving ${store.address.label}; press Ctrl-C to stop`)
    while (await wait(terminal.clock, foreverMs, signal));
  },
}
