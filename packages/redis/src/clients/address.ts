import { SluiceTypeError } from '@sluice/core'
import type { NodeAddress } from '../connection/slots.ts'
import type { Address } from './link.ts'

/** The parts of an address. */
export interface ParsedAddress {
  readonly kind: 'single' | 'sentinel' | 'cluster'
  readonly isTls: boolean
  /** Of a single server. */
  readonly address: Address | undefined
  /** Of Sentinels, or of nodes of a cluster. */
  readonly hosts: readonly NodeAddress[]
  /** The name under which Sentinels know the primary. */
  readonly name: string
  readonly username: string | undefined
  readonly password: string | undefined
  readonly database: number
}

const forms =
  'redis://host:port/database, unix:///path, redis-sentinel://host:port,host:port/name or redis-cluster://host:port,host:port'

/** The defaults of Redis and of Sentinel. */
const portOf = { single: 6_379, cluster: 6_379, sentinel: 26_379 }

function hostOf(text: string, defaultPort: number): NodeAddress | undefined {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text)
  const [, host = '', port = String(defaultPort)] = match ?? []
  if (match === null || Number(port) < 1 || Number(port) > 65_535) return undefined
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }
}

/** Reads an address. Throws an error without the password. */
export function parseAddress(url: string): ParsedAddress {
  const match =
    /^(redis|rediss|unix)(-sentinel|-cluster)?:\/\/(?:([^/]*)@)?([^@/?#]*)(\/[^?#]*)?$/.exec(
      url.trim(),
    )
  const wrong = (why: string): SluiceTypeError =>
    new SluiceTypeError('url', `${why}; use ${forms}, with rediss for TLS`)
  if (match === null) throw wrong('is not the address of a Redis')
  const decoded = (text: string): string => {
    try {
      return decodeURIComponent(text)
    } catch {
      throw wrong('has a % that is not followed by two hexadecimal digits of UTF-8: write %25')
    }
  }
  const [, scheme, suffix = '', credentials = '', list = '', path = ''] = match
  const colon = credentials.indexOf(':')
  const [user, password] =
    colon < 0 ? [credentials, ''] : [credentials.slice(0, colon), credentials.slice(colon + 1)]
  const shared = {
    isTls: scheme === 'rediss',
    username: user === '' ? undefined : decoded(user),
    password: password === '' ? undefined : decoded(password),
    name: '',
    database: 0,
    hosts: [],
  }
  if (scheme === 'unix') {
    if (suffix !== '' || list !== '' || path.length < 2) throw wrong('names no socket')
    return { ...shared, kind: 'single', address: { path: decoded(path) } }
  }
  const kind = suffix === '' ? 'single' : suffix === '-sentinel' ? 'sentinel' : 'cluster'
  const hosts = list.split(',').map((text) => hostOf(text, portOf[kind]))
  const known = hosts.filter((host) => host !== undefined)
  if (known.length !== hosts.length) throw wrong('has a host or a port that is not valid')
  const [first = '', second = ''] = path.slice(1).split('/')
  const number = kind === 'sentinel' ? second : first
  if (!/^\d*$/.test(number)) throw wrong('has a database that is not a number')
  if (kind === 'sentinel' && first === '') throw wrong('does not name the primary')
  if (kind === 'cluster' && Number(number) !== 0)
    throw wrong('has a database, and a cluster has one')
  if (kind === 'single' && known.length > 1) throw wrong('has several hosts')
  return {
    ...shared,
    kind,
    database: Number(number),
    ...(kind === 'single'
      ? { address: known[0] }
      : { address: undefined, hosts: known, name: decoded(first) }),
  }
}
