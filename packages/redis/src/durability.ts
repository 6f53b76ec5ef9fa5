import { SluiceError } from '@sluice/core'
import { type Connections, ReplyError } from './connection/connections.ts'

/** The failures that an acknowledged write has survived. */
export interface Durability {
  /**
   * How many replicas have every write before it is acknowledged, and every claim and renewal. Default
   * 0. With all replicas of a primary, one failover loses nothing that was acknowledged; with fewer,
   * another replica may be promoted.
   */
  readonly replicas?: number | undefined
  /**
   * Whether the server must have every write on its disk before it replies: `appendonly yes`,
   * `appendfsync always` and `no-appendfsync-on-rewrite no`, which opening checks. Default false.
   */
  readonly disk?: boolean | undefined
}

/** Refuses a server that replies before a write is on its disk. */
export async function checkDisk(connections: Connections): Promise<void> {
  for (const [name, wanted] of [
    ['appendonly', 'yes'],
    ['appendfsync', 'always'],
    // Otherwise nothing is synced while a child process rewrites the log or saves a snapshot.
    ['no-appendfsync-on-rewrite', 'no'],
  ] as const) {
    for (const reply of await readSetting(connections, name)) {
      const value = (reply as readonly string[])[1]
      if (value === wanted) continue
      throw new SluiceError(
        'ERR_STORE',
        `the server does not have every write on its disk before it replies: ${name} is ${value}, not ${wanted}; change it with CONFIG SET, or open the store without durability.disk`,
      )
    }
  }
}

async function readSetting(connections: Connections, name: string) {
  try {
    return await connections.sendToAll(['CONFIG', 'GET', name])
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error
    throw new SluiceError(
      'ERR_STORE',
      `cannot read ${name} of the server, which durability.disk depends on: ${error.message}; check that appendonly is yes, appendfsync is always and no-appendfsync-on-rewrite is no, then set diskChecked: 'by-me'`,
      { cause: error },
    )
  }
}

/** Refuses to wait for replicas that are not there, or cannot be waited for. */
export async function checkReplicas(connections: Connections, wanted: number): Promise<void> {
  if (wanted === 0) return
  try {
    await connections.sendToAll(['WAIT', '0', '0'])
  } catch (error) {
    if (!(error instanceof ReplyError && error.isWithheld)) throw error
    throw new SluiceError(
      'ERR_STORE',
      `no write can be confirmed by replicas, which durability.replicas asks for: ${error.message}; grant the user WAIT, or open the store without durability.replicas`,
      { cause: error },
    )
  }
  if (connections.replicas >= wanted) return
  throw new SluiceError(
    'ERR_STORE',
    `durability.replicas is ${wanted}, but a primary has ${connections.replicas} replicas; connect more, or ask for fewer`,
    { retryable: true },
  )
}
