import type { Command, Reply } from './connections.ts'
import type { Server } from './server.ts'

/** Which servers there are, and which has a key. */
export interface Topology {
  readonly isCluster: boolean
  /** The primary of a key. Throws a `ConnectionError` if none is known. */
  serverOf(key: string): Server
  /** Every primary that is known. */
  servers(): readonly Server[]
  /** Sends a command to the primary of a key, wherever that is by now. */
  send(key: string, command: Command): Promise<Reply>
  /** Looks again where the primaries are. */
  refresh(): Promise<void>
  /** A server that counted as a primary says that it is a replica. */
  doubt(server: Server, cause: unknown): void
  /**
   * The only primary has lost replicas. It may have been replaced, and goes on without knowing: Sentinel tells it
   * ten seconds later, or, after a partition, when that has ended. In a cluster it stops on its own.
   */
  suspect?(): void
  /** Called after a slot got another primary. */
  onChange: () => void
  close(): void
}
