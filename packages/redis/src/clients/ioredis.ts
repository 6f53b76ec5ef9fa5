import type { IoredisClient } from './client-shapes.ts'
import { withErrorListener } from './error-listener.ts'
import type { ClientEvents, LibraryClient, OpenClient } from './link.ts'

/** Opens connections with the settings of a client of ioredis. */
export function ioredisOpener(template: IoredisClient): OpenClient {
  return async (address, events) => {
    const to = address === undefined ? {} : { path: null, sentinels: null, ...address }
    const { tls } = template.options
    const client = template.duplicate({
      ...to,
      ...(tls && { tls: withErrorListener(tls) }),
      lazyConnect: true,
      // The driver opens another connection instead, and watches over this one itself.
      retryStrategy: null,
      reconnectOnError: null,
      sentinelRetryStrategy: null,
      socketTimeout: undefined,
      commandTimeout: undefined,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      autoResubscribe: false,
      enableAutoPipelining: false,
      // It needs INFO, which the user may lack; a server that is still loading says so.
      enableReadyCheck: false,
      readOnly: false,
      // Replies are read as in version 2 of the protocol, with numbers as numbers.
      stringNumbers: false,
      replyMapping: 'legacy',
    })
    return await connected(client, events)
  }
}

/** An older version takes the messages for replies to other commands. */
function knowsShardedMessages({ constructor: { Command } }: IoredisClient): boolean {
  return Command?.checkFlag?.('ENTER_SUBSCRIBER_MODE', 'ssubscribe') ?? true
}

async function connected(client: IoredisClient, events: ClientEvents): Promise<LibraryClient> {
  let cause: unknown = new Error('the connection was closed')
  const listeners = new Map<string, (message: string) => void>()
  client.on('error', (error: unknown) => {
    cause = error
  })
  client.on('end', () => events.onClose(cause))
  const onMessage = (channel: unknown, message: unknown): void =>
    listeners.get(String(channel))?.(String(message))
  client.on('message', onMessage)
  client.on('smessage', onMessage)
  client.on('moved', () => events.onUnsubscribed())
  const destroy = (): void => {
    client.disconnect()
    // A polite end waits for a server that may be silent.
    client.stream?.destroy()
  }
  events.onMade(destroy)
  try {
    await client.connect()
    // ioredis goes on in database 0 where the server has refused the one of its options.
    const { db = 0 } = client.options
    if (db !== 0) await client.call('SELECT', [String(db)])
  } catch (error) {
    destroy()
    // The error of the connection says more than that it was closed.
    throw (cause as NodeJS.ErrnoException | undefined)?.syscall === undefined ? error : cause
  }
  return {
    // Version 2 of the protocol is the default of some versions, and a server may know no other.
    isShareable: false,
    send: ([name = '', ...args]) => client.call(name, args),
    async subscribe(channel, isSharded, listener) {
      if (isSharded && !knowsShardedMessages(client)) {
        throw new Error('ioredis receives messages of a cluster from version 5.3 on')
      }
      listeners.set(channel, listener)
      await (isSharded ? client.ssubscribe(channel) : client.subscribe(channel))
    },
    async unsubscribe(channel, isSharded) {
      listeners.delete(channel)
      await (isSharded ? client.sunsubscribe(channel) : client.unsubscribe(channel))
    },
    hold: (isHeld) => (isHeld ? client.stream?.ref() : client.stream?.unref()),
  }
}
