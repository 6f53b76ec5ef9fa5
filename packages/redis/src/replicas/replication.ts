import { type Reply, ReplyError } from '../connection/connections.ts'

/** The replicas of a server, as it reports them. */
export interface Replication {
  /** How many there are, at least. */
  readonly counted: number
  /** How many are connected; Infinity where that may not be read. */
  readonly connected: number
  /** Another one after the server was promoted; '' if it never was, or where that may not be read. */
  readonly history: string
  /** How much it has written so far. */
  readonly offset: number
  /** How many replicas have everything up to an offset that was read before. */
  following(offset: number): number
}

/** Reads the answer to `INFO replication`; undefined if it may not be read. */
export function replicationOf(info: Reply): Replication | undefined {
  const fields = new Map<string, string>()
  for (const line of String(info).split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1))
  }
  const offset = fields.get('master_repl_offset')
  if (offset === undefined) return undefined
  const replicas = [...fields].filter(([name]) => /^slave\d+$/.test(name)).map(([, text]) => text)
  // A primary that gets its first replica takes another id as well, but has no second one.
  const isPromoted = /[1-9a-f]/.test(fields.get('master_replid2') ?? '')
  const connected = Number(fields.get('connected_slaves') ?? 0)
  return {
    counted: connected,
    connected,
    history: isPromoted ? (fields.get('master_replid') ?? '') : '',
    offset: Number(offset),
    following: (wanted) =>
      replicas.filter((text) => {
        const has = Number(/offset=(\d+)/.exec(text)?.[1] ?? -1)
        return text.includes('state=online') && has >= wanted
      }).length,
  }
}

/** An answer where a command is withheld. */
export function unlessWithheld(error: unknown): '' {
  if (error instanceof ReplyError && error.isWithheld) return ''
  throw error
}
