/** One reply of Redis, with texts as strings. */
export type Reply = string | number | null | readonly Reply[]

/**
 * A command; or a function that makes it for the process that it is sent to, whose run id it gets: ''
 * where that may not be read.
 */
export type Command = readonly string[] | ((runId: string) => readonly string[])

/**
 * Which primary a barrier was requested from, and on which connection, before a command was sent to
 * it. See {@link Connections.barrier}.
 */
export interface Barrier {
  /**
   * Resolves when at least `replicas` replicas have received everything that this primary had answered
   * before the call. Rejects with a {@link ConnectionError} if fewer have within `withinMs`, if the
   * barrier connection was opened again since {@link Connections.barrier}, or if another server is the
   * primary.
   */
  confirmed(replicas: number, withinMs: number): Promise<void>
}

/** How far the replicas of a primary have followed it. */
export interface Progress {
  /** The primary that was asked: see {@link Connections.primaryOf}. */
  readonly primary: string
  /**
   * How many replicas have everything that this primary had answered before {@link Connections.progress}
   * was called the last time; 0 if that cannot be said.
   */
  readonly following: number
  /** How many replicas are connected, and can follow; Infinity where that may not be read. */
  readonly connected: number
}

/** The listener of a subscription. */
export interface Subscription {
  /** A message has arrived. */
  onMessage(message: string): void
  /** The subscription was made, or made again: messages may have been missed. */
  onGap(): void
}

/**
 * The servers of one store: one primary, or the primaries of a cluster. The verbs send their commands
 * through it and know no client library.
 *
 * A command that was sent is never sent again, and nothing is queued while a server is away: the queue
 * repeats calls, and knows which ones it may repeat.
 */
export interface Connections {
  /** Whether the slots of keys are spread over several primaries. */
  readonly isCluster: boolean
  /** How many replicas each primary is expected to have; the least of them. */
  readonly replicas: number
  /**
   * How many replicas the primary of the slot of `key` is expected to have: as many as it ever had. 0 while
   * no primary has the slot.
   */
  replicasOf(key: string): number
  /**
   * Sends a command to the primary that has the slot of `key`. Commands that are sent in one turn
   * travel together, and those to one primary arrive in the order of the calls. Rejects with a
   * {@link ReplyError} or a {@link ConnectionError}.
   */
  send(key: string, command: Command): Promise<Reply>
  /** Sends a command to every primary. */
  sendToAll(command: readonly string[]): Promise<readonly Reply[]>
  /**
   * The id of the process that is the primary of the slot of `key`, as far as it is known without
   * asking. It begins with the run id, up to a `~`. Changes with a failover, and with a restart, which
   * may have lost writes too. Where the run id may not be read, it begins with a `#` or the id of a node
   * and a `#`, differs between processes of the driver, and changes with every new connection. '' while no
   * primary has the slot.
   */
  primaryOf(key: string): string
  /** The id, as {@link Connections.primaryOf} gives it, of a known primary whose id begins with `start`. */
  idOf(start: string): string | undefined
  /** Calls `onChange` after the primary of some slot has changed. Returns a function that ends it. */
  watchPrimaries(onChange: () => void): () => void
  /** To be called before the commands that it is to confirm are sent. */
  barrier(key: string): Promise<Barrier>
  /** Asks how far the replicas of a primary are, without waiting for them. */
  progress(key: string): Promise<Progress>
  /**
   * Subscribes to a channel: in a cluster a sharded one, on the primary that has its slot. Resolves
   * when messages arrive.
   */
  subscribe(channel: string, subscription: Subscription): Promise<() => Promise<void>>
  /** Closes the connections, unless their client is the caller's. */
  close(): Promise<void>
}

/** The server has answered with an error. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError'

  /** The first word of the message, such as `NOSCRIPT` or `OOM`. */
  get code(): string {
    return this.message.split(' ', 1)[0] ?? ''
  }

  /**
   * Whether the user may not send the command, also in a script, or the server does not have it, as on hosted
   * services.
   */
  get isWithheld(): boolean {
    if (this.code === 'NOPERM') return true
    // Of a command in a script, Redis 7.0 says the second, later ones and Valkey the third; of one that the server
    // does not have, the fourth, or the first, where Redis names itself.
    return /^ERR (unknown (redis )?command|The user executing|ACL failure in script|Invalid command passed)/i.test(
      this.message,
    )
  }
}

/** A command has no answer. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** Whether the server may have received the command. */
  readonly wasSent: boolean

  constructor(message: string, wasSent: boolean, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.wasSent = wasSent
  }
}

/** The error of what a close has overtaken. */
export function closedMeanwhile(): ConnectionError {
  return new ConnectionError('the driver was closed', false)
}
