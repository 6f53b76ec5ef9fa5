import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const help = `usage: npm start -- [options] [FILE]

A shop with seven queues in one SQLite file, two worker processes, and the dashboard.

  FILE            the file of the queues; default: sluice-demo.db in the temporary folder
  --store=STORE   redis, or an address such as redis://host:6379, instead of a file
  --port=PORT     the port of the dashboard; default 4040
  --seconds=N     ends after N seconds
  --no-open       does not open the dashboard in a browser
  -h, --help      prints this

While it runs: b breaks the server that webhooks are sent to, or fixes it; k kills a worker process;
p pauses the queue search-index, or resumes it; q or Ctrl-C ends the demo.
`

/** What the demo was called with. */
export interface Arguments {
  /** The file of the queues, or the address of a Redis. */
  readonly store: string
  /** The store was not named, so it is a file of the demo's own. */
  readonly isOwnFile: boolean
  readonly port: number
  readonly seconds: number | undefined
  readonly opensBrowser: boolean
}

/** Reads the command line. Ends the process if help was asked for, or if it cannot be read. */
export function readArguments(): Arguments {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        port: { type: 'string', default: '4040' },
        store: { type: 'string' },
        seconds: { type: 'string' },
        'no-open': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) {
      process.stdout.write(help)
      process.exit(0)
    }
    const named = [...positionals, ...(values.store === undefined ? [] : [values.store])]
    const [store = join(tmpdir(), 'sluice-demo.db'), ...more] = named
    if (more.length > 0) throw new Error(`one store is enough; got ${named.join(' ')}`)
    if (values.store !== undefined && !/^redis(s?:|-|$)/.test(values.store)) {
      throw new Error(`--store must be redis or an address of Redis; got ${values.store}`)
    }
    return {
      store: store === 'redis' ? 'redis://127.0.0.1:6379' : store,
      isOwnFile: named.length === 0,
      port: wholeNumber('--port', values.port),
      seconds: values.seconds === undefined ? undefined : wholeNumber('--seconds', values.seconds),
      opensBrowser: process.stdout.isTTY && !values['no-open'],
    }
  } catch (error) {
    console.error(`demo: ${error instanceof Error ? error.message : error}\n\n${help}`)
    process.exit(2)
  }
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text)
  if (text !== '' && Number.isSafeInteger(number) && number >= 0 && number <= 65_535) return number
  throw new Error(`${name} must be a whole number up to 65535; got ${JSON.stringify(text)}`)
}
