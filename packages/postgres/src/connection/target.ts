import { type Environment, packageError } from '@sluice/core/driver'
import type { Settings } from '../postgres-options.ts'
import type { PgListener, PgPool } from './client-shapes.ts'
import type { Connections } from './connection.ts'
import { ConnectionProbe } from './connection-probe.ts'
import { closeMs, withDeadline } from './deadline.ts'
import { bytesReadOf, destroySocket } from './destroy-socket.ts'
import { SingleConnection } from './pglite-connection.ts'
import { PoolConnections, type PoolUse } from './pool-connections.ts'

/**
 * How long a connection without work is kept, in milliseconds. Longer than the pauses of most queues: a new
 * one has to load the catalog, plan every statement and map the memory of the server page by page, so
 * that the next 20,000 keys took twice the time after 10 s, the default of `pg`.
 */
const idleMs = 300_000

/**
 * How long a server may be silent while a connection is opened, in milliseconds; half of a call's time where that
 * is longer, as for a server that has to wake up.
 */
const connectMs = 5_000

/** The database that settings name: where its connections come from. */
export interface Target {
  readonly connections: Connections
  /**
   * Where token buckets are charged for a transaction of the caller's: connections that no such
   * transaction holds, since two transactions could otherwise wait for each other.
   */
  readonly buckets: Connections
  readonly use: PoolUse
  readonly makeListener: (() => PgListener) | undefined
}

/** The database that the settings name. Connects to nothing yet. */
export async function targetOf(settings: Settings): Promise<Target> {
  const { environment, timeoutMs, client, pool, connectionString, poolSize } = settings
  const plainUse = { environment, timeoutMs }
  if (client !== undefined) {
    const connections = new SingleConnection(client, plainUse)
    return { connections, buckets: connections, use: plainUse, makeListener: undefined }
  }
  if (pool !== undefined) {
    const makeListener = listenerLike(pool)
    const use = useWith(plainUse, makeListener)
    const connections = new PoolConnections(pool, use)
    return { connections, buckets: ownPoolLike(pool, use) ?? connections, use, makeListener }
  }
  // Imported only here: a client of another kind needs no pg.
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    throw packageError('pg', 'hand in a pool', cause)
  })
  const config = {
    connectionString,
    // A broken connection is noticed even while no statement is sent.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'sluice',
  }
  const Client = givingUp(pg.Client as unknown as ClientClass, plainUse)
  const opened = new Set<PgListener>()
  const clients = { Client: tracked(Client, opened) }
  const kept = { max: poolSize, idleTimeoutMillis: idleMs, allowExitOnIdle: true, ...clients }
  const own = new pg.Pool({ ...config, ...kept } as object)
  keepAlive(own as unknown as PgPool)
  const end = (): Promise<void> => endOrCut(own, opened, environment)
  const makeListener = (): PgListener =>
    new Client({ ...config, application_name: 'sluice listens' })
  const use = useWith(plainUse, makeListener)
  // No transaction of the caller's is on a connection of this pool.
  const connections = new PoolConnections(own as unknown as PgPool, {
    ...use,
    end,
    hasOwnClients: true,
  })
  return {
    connections,
    buckets: connections,
    use,
    makeListener,
  }
}

function useWith(use: PoolUse, make: (() => PgListener) | undefined): PoolUse {
  if (make === undefined) return use
  const probe = new ConnectionProbe(use.environment, make)
  return { ...use, probe, to: (isAnswered) => addressOf(make, isAnswered) }
}

/**
 * Where a client would connect: also by the variables and the defaults of `pg`. Role and database only if a server
 * has answered: in an address whose password has a bare `/`, they would be a part of it.
 */
function addressOf(make: () => PgListener, isAnswered: boolean): string {
  try {
    const client = make()
    const { user, host, port, database } = client
    // Its socket may be one that the caller has connected.
    destroySocket(client)
    return isAnswered ? ` at ${user}@${host}:${port}/${database}` : ` at ${host}:${port}`
  } catch {
    // What refused to make the connection refuses this one too.
    return ''
  }
}

/** An error of a client without a listener would end the process, also before and after its use. */
function keepAlive(pool: PgPool): void {
  pool.on('connect', (made) => made.on('error', () => {}))
}

type ClientOptions = Readonly<Record<string, unknown>>

type ClientClass = new (options: ClientOptions) => PgListener

/**
 * Clients that give up a connection whose server does not answer while it is opened. Not an option of the pool,
 * which would also end the wait for one of its connections that is in use; and not that of `pg`, whose timer
 * fires before an answer is read that came while the process was held up.
 */
function givingUp(Client: ClientClass, { environment, timeoutMs }: PoolUse): ClientClass {
  const openMs = Math.min(timeoutMs, Math.max(connectMs, timeoutMs / 2))
  return class extends Client {
    constructor(options: ClientOptions) {
      // A copy would leave out the password, which a pool hides when it is printed.
      super({ ...options, password: options['password'], connectionTimeoutMillis: 0 })
    }

    override connect(...args: []): Promise<unknown> {
      const over = new Promise<void>((resolve) => {
        this.on('connect', resolve)
        this.on('end', resolve)
      })
      // A process that was held up has the usual time for the answers that follow the one that has come.
      const progress = (): number => bytesReadOf(this)
      withDeadline(environment, openMs, 'connecting', over, { progress }).catch(() =>
        // The words of `pg`.
        destroySocket(this, new Error('timeout expired')),
      )
      return super.connect(...args)
    }
  }
}

/** Clients that are in `opened` until their connections have ended. */
function tracked(Client: ClientClass, opened: Set<PgListener>): ClientClass {
  return class extends Client {
    constructor(options: ClientOptions) {
      super(options)
      opened.add(this)
      this.on('end', () => opened.delete(this))
    }
  }
}

/** Ends a pool; connections that are busy after a while, or whose server is silent, are cut. */
async function endOrCut(
  pool: EndingPool,
  opened: ReadonlySet<PgListener>,
  environment: Environment,
): Promise<void> {
  await withDeadline(environment, closeMs, 'closing the pool', pool.end()).catch(() => {
    for (const client of opened) destroySocket(client)
  })
}

/** The options and the classes of a pool of `pg`, if it is one. */
interface PoolInside {
  readonly options?: ClientOptions
  readonly constructor: unknown
  readonly Client?: ClientClass
}

interface EndingPool {
  end(): Promise<void>
}

type PoolClass = new (options: object) => PgPool & EndingPool

/** A pool of one connection like those of `pool`, which connects with its first use. */
function ownPoolLike(pool: PgPool, use: PoolUse): Connections | undefined {
  const { options, constructor: PoolLike, Client } = pool as PoolInside
  if (options === undefined || typeof PoolLike !== 'function') return undefined
  const opened = new Set<PgListener>()
  const clients = Client && { Client: tracked(givingUp(Client, use), opened) }
  const more = { max: 1, min: 0, allowExitOnIdle: true, ...clients }
  const own = new (PoolLike as PoolClass)({ ...options, password: options['password'], ...more })
  keepAlive(own)
  const end = (): Promise<void> => endOrCut(own, opened, use.environment)
  const connections = new PoolConnections(own, { ...use, end })
  connections.stopPreparing()
  return connections
}

/** Makes connections as a pool of `pg` would, but outside of the pool. */
function listenerLike(pool: PgPool): (() => PgListener) | undefined {
  const { Client, options } = pool as PoolInside
  if (Client === undefined || options === undefined) return undefined
  // Not a copy: the pool keeps the password where a copy would not find it.
  return () => new Client(options)
}
