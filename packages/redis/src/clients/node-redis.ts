import type { NodeRedisClient } from './client-shapes.ts'
import { withErrorListener } from './error-listener.ts'
import type { Address, ClientEvents, LibraryClient, OpenClient } from './link.ts'

/** How replies are read: as in version 2 of the protocol, whatever the version in use. */
const typeMapping = { 37: Array, 44: String, 40: String }

function socketOf(client: NodeRedisClient, address: Address | undefined): object {
  const before = (client.options as { socket?: object } | undefined)?.socket ?? {}
  const { path: _, ...net } = before as { path?: string }
  const to = address === undefined ? before : { ...net, ...address }
  // The driver opens another connection instead, and watches over this one itself.
  return { ...withErrorListener(to), reconnectStrategy: false, socketTimeout: undefined }
}

/** Opens connections with the settings of a client of node-redis. */
export function nodeRedisOpener(template: NodeRedisClient): OpenClient {
  return async (address, events) => {
    const client = template.duplicate({
      // An address in the settings would win over the socket's.
      url: undefined,
      // Commands and messages on one connection: ticks then prove that messages would arrive.
      RESP: 3,
      socket: socketOf(template, address),
      disableOfflineQueue: true,
      pingInterval: undefined,
      // What is sent is limited by the queues.
      commandsQueueMaxLength: undefined,
      // Each command would have a timer of its own.
      commandOptions: { timeout: undefined, typeMapping },
      maintNotifications: 'disabled',
    })
    return await connected(client, events)
  }
}

async function connected(client: NodeRedisClient, events: ClientEvents): Promise<LibraryClient> {
  client.on('error', (error: unknown) => events.onClose(error))
  client.on('end', () => events.onClose(new Error('the client was closed')))
  client.on('sharded-channel-moved', () => events.onUnsubscribed())
  const destroy = (): void => {
    if (client.isOpen) client.destroy()
  }
  events.onMade(destroy)
  try {
    await client.connect()
  } catch (error) {
    destroy()
    throw error
  }
  return {
    isShareable: true,
    send: (command) => client.sendCommand(command as string[]),
    subscribe: (channel, isSharded, onMessage) =>
      isSharded ? client.sSubscribe(channel, onMessage) : client.subscribe(channel, onMessage),
    unsubscribe: (channel, isSharded) =>
      isSharded ? client.sUnsubscribe(channel) : client.unsubscribe(channel),
    hold: (isHeld) => (isHeld ? client.ref() : client.unref()),
  }
}
