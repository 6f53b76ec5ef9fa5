import {
  checkBoolean,
  checkFunction,
  checkNumber,
  checkObject,
  checkString,
  SluiceTypeError,
} from '@sluice/core'
import { type Clock, type Driver, systemClock } from 'sluice'
import type { DashboardAuth, DashboardOptions } from './dashboard.ts'
import { hostIn } from './http/check-origin.ts'

/** Checked options, with defaults filled in. */
export interface Settings extends Pick<DashboardOptions, 'auth' | 'redact' | 'redactError'> {
  readonly driver: Driver
  /** Without a slash at the end: `` or `/queues`. */
  readonly base: string
  readonly allowActions: boolean
  readonly hosts: readonly string[]
  readonly tickMs: number
  readonly streamsMax: number
  /** The clock of this process. */
  readonly clock: Clock
  /** The clock passed to the store, if the options name one. */
  readonly storeClock: Clock | undefined
  readonly storeName: string
  readonly onError: (error: unknown) => void
}

const optionNames: readonly string[] = [
  'driver',
  'basePath',
  'allowActions',
  'auth',
  'hosts',
  'redact',
  'redactError',
  'tickMs',
  'streamsMax',
  'clock',
  'storeName',
  'onError',
]

const hostsDefault: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Shorter secrets can be guessed. */
const secretCharactersMin = 16

const tickMsLimits = { min: 100, max: 60_000 }

function checkSecret(parameter: string, secret: unknown): void {
  // The value stays out of the message.
  if (typeof secret !== 'string' || secret.length < secretCharactersMin) {
    throw new SluiceTypeError(
      parameter,
      `must be a string of at least ${secretCharactersMin} characters; use a random one`,
    )
  }
}

/** Without the members that are `undefined`: the others show how visitors authenticate. */
function checkAuth(auth: DashboardAuth): DashboardAuth {
  checkObject('auth', auth)
  if ('trust' in auth && auth.trust !== undefined) {
    const { trust, secret } = checkObject('auth', auth, ['trust', 'secret'])
    checkFunction('auth.trust', trust)
    if (secret !== undefined) checkSecret('auth.secret', secret)
    return { trust, secret }
  }
  const { token } = checkObject('auth', auth, ['token']) as { readonly token: string }
  checkSecret('auth.token', token)
  return { token }
}

function checkBase(basePath: unknown): string {
  const path = checkString('basePath', basePath)
  const base = path.replace(/\/+$/, '')
  if (base !== '' && !/^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/.test(base)) {
    throw new SluiceTypeError('basePath', 'must be a path such as /queues')
  }
  return base
}

function checkHosts(hosts: readonly string[]): readonly string[] {
  if (!Array.isArray(hosts) || hosts.length === 0) {
    throw new SluiceTypeError('hosts', 'must be an array of at least one name')
  }
  return hosts.map((host, index) => {
    const name = hostIn(checkString(`hosts[${index}]`, host, { empty: false }))
    if (name === undefined) {
      throw new SluiceTypeError(
        `hosts[${index}]`,
        'must be a name such as queues.example.com or localhost:8080',
      )
    }
    return name
  })
}

function print(error: unknown): void {
  console.error('sluice: the dashboard failed:', error)
}

/** Checks the options and fills in defaults. */
export function checkSettings(options: DashboardOptions): Settings {
  checkObject('options', options, optionNames)
  const { driver, basePath = '/', allowActions = false, hosts = hostsDefault } = options
  const {
    redact,
    redactError,
    tickMs = 1_000,
    streamsMax = 50,
    clock,
    storeName,
    onError = print,
  } = options
  checkObject('driver', driver)
  checkBoolean('allowActions', allowActions)
  const auth = options.auth === undefined ? undefined : checkAuth(options.auth)
  if (allowActions && auth === undefined) {
    throw new SluiceTypeError(
      'auth',
      'is required for allowActions: actions require authentication',
    )
  }
  for (const [name, hook] of Object.entries({ redact, redactError, onError })) {
    if (hook !== undefined) checkFunction(`${name}`, hook)
  }
  if (storeName !== undefined) checkString('storeName', storeName)
  return {
    driver,
    base: checkBase(basePath),
    allowActions,
    hosts: checkHosts(hosts),
    tickMs: checkNumber('tickMs', tickMs, tickMsLimits),
    streamsMax: checkNumber('streamsMax', streamsMax, { min: 1, integer: true }),
    clock: clock ?? systemClock,
    storeClock: clock,
    storeName: storeName ?? driver.name,
    auth,
    redact,
    redactError,
    onError,
  }
}
