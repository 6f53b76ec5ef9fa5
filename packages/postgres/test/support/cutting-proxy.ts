import { connect, createServer, type Server, type Socket } from 'node:net'

/** Ways in which a connection can end. */
export const cuts = [
  'reset before',
  'reset after',
  'end after',
  'half a reply',
  'black hole',
] as const

/** One of them. */
export type Cut = (typeof cuts)[number]

/** A proxy in front of a server that cuts connections when it is told to. */
export interface CuttingProxy {
  readonly port: number
  /** The next time something is sent by a client, its connection ends this way. */
  cutNext(cut: Cut): void
  /** From now on nothing comes through the connections that there are; new ones work. */
  silence(): void
  /** The next time something is sent by a client, nothing happens to it; `onPass` is called then. */
  passNext(onPass?: () => void): void
  /** How many cuts have been made. */
  readonly made: number
  /** How often something else than its end was sent over a connection through which nothing comes. */
  readonly swallowed: number
  stop(): Promise<void>
}

/** The first byte of the message that ends a connection. */
const terminate = 0x58

/** Starts a proxy in front of a port of this machine. */
export async function startProxy(to: number): Promise<CuttingProxy> {
  const wanted: (Cut | (() => void))[] = []
  const sockets = new Set<Socket>()
  const silencers = new Set<() => void>()
  let [made, swallowed] = [0, 0]

  function join(client: Socket): void {
    const upstream = connect(to, '127.0.0.1')
    let cut: Cut | undefined
    silencers.add(() => {
      cut = 'black hole'
    })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        if (cut !== 'black hole') for (const other of [client, upstream]) other.destroy()
      })
    }
    client.on('data', (chunk) => {
      if (cut !== undefined) {
        if (chunk[0] !== terminate) swallowed += 1
        return
      }
      const next = wanted.shift()
      if (typeof next === 'function') next()
      else cut = next
      if (cut !== undefined) made += 1
      if (cut === 'reset before') {
        upstream.destroy()
        client.resetAndDestroy()
        return
      }
      upstream.write(chunk)
      if (cut === 'reset after') client.resetAndDestroy()
      else if (cut === 'end after') client.end()
    })
    upstream.on('data', (chunk) => {
      if (cut === 'half a reply') {
        client.write(chunk.subarray(0, Math.ceil(chunk.length / 2)))
        client.destroySoon()
      } else if (cut === undefined) client.write(chunk)
    })
  }

  const server: Server = createServer(join)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    silence() {
      for (const silence of silencers) silence()
      silencers.clear()
    },
    cutNext: (cut) => void wanted.push(cut),
    passNext: (onPass = () => {}) => void wanted.push(onPass),
    get made() {
      return made
    },
    get swallowed() {
      return swallowed
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
