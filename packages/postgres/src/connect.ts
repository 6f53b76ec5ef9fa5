import type { PgListener, PgPool } from './client-shapes.ts'
import type { Settings } from './options.ts'
import { PoolSessions, type PoolUse } from './pool-sessions.ts'
import type { Sessions } from './session.ts'
import { SingleSession } from './single-session.ts'

/** Where connections come from, and how to make one that listens. */
export interface Connected {
  readonly sessions: Sessions
  readonly use: PoolUse
  readonly makeListener: (() => PgListener) | undefined
}

/** Gets at the database as the settings say. Connects to nothing yet. */
export async function connect(settings: Settings): Promise<Connected> {
  const { machine, timeoutMs, client, pool, connectionString, poolSize } = settings
  const use = { machine, timeoutMs }
  if (client !== undefined) {
    return { sessions: new SingleSession(client, use), use, makeListener: undefined }
  }
  if (pool !== undefined) {
    return { sessions: new PoolSessions(pool, use), use, makeListener: listenerLike(pool) }
  }
  // Only here, so that nobody needs pg who brings a client of another kind.
  const { default: pg } = await import('pg')
  const config = {
    connectionString,
    keepAlive: true,
    application_name: 'sluice',
    connectionTimeoutMillis: Math.min(timeoutMs, 10_000),
  }
  const own = new pg.Pool({ ...config, max: poolSize, allowExitOnIdle: true })
  // Also while it is being made, and while it ends: a client without a listener ends the process.
  own.on('connect', (made) => made.on('error', () => {}))
  const end = (): Promise<void> => own.end()
  return {
    sessions: new PoolSessions(own as unknown as PgPool, { ...use, end }),
    use,
    makeListener: () =>
      new pg.Client({ ...config, application_name: 'sluice listens' }) as unknown as PgListener,
  }
}

/** Makes connections as a pool of `pg` would, but beside it. */
function listenerLike(pool: PgPool): (() => PgListener) | undefined {
  const { Client, options } = pool as {
    Client?: new (options: object) => PgListener
    options?: object
  }
  if (Client === undefined || options === undefined) return undefined
  // Not a copy: the pool keeps the password where a copy would not find it.
  return () => new Client(options)
}
