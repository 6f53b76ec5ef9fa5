import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from './free-port.ts'

/**
 * What a proxy does with connections.
 *
 * - `pass`: all goes through.
 * - `refuse`: nothing listens, and connections that were open are reset.
 * - `silent`: connections are accepted and nothing goes through, also on those that were open.
 * - `half-open`: those that were open stay silent for good; new ones are well.
 * - `cut`: those that were open are reset, and new ones as soon as the server answers.
 */
export type ProxyMode = 'pass' | 'refuse' | 'silent' | 'half-open' | 'cut'

interface Pair {
  readonly client: Socket
  /** The address that the client connects from. */
  readonly from: string
  readonly upstream: Socket
  isSilent: boolean
}

/** A proxy in front of a server on this machine, which can be in trouble. */
export class StoreProxy {
  readonly port: number
  #mode: ProxyMode = 'pass'
  readonly #to: number
  readonly #host: string
  #isHeld: (from: string) => boolean = () => false
  readonly #pairs = new Set<Pair>()
  #server: Server

  private constructor(server: Server, port: number, to: number, host: string) {
    this.#server = server
    this.port = port
    this.#to = to
    this.#host = host
    server.on('connection', (client) => this.#join(client))
  }

  /** Starts a proxy on a free port, in front of port `to` of `host`. */
  static async start(to: number, host = '127.0.0.1'): Promise<StoreProxy> {
    const server = createServer()
    // A port that stays its own while it refuses connections.
    const port = await freePort()
    await listening(server, port)
    return new StoreProxy(server, port, to, host)
  }

  /**
   * Holds back, as a network does that was split, what goes through connections from some addresses,
   * whether they were open or are new. When they are no longer held, it arrives.
   */
  hold(isHeld: (from: string) => boolean): void {
    this.#isHeld = isHeld
    for (const pair of this.#pairs) this.#holdOrPass(pair)
  }

  async become(mode: ProxyMode): Promise<void> {
    const wasRefusing = this.#mode === 'refuse'
    this.#mode = mode
    for (const pair of this.#pairs) {
      if (mode === 'silent' || mode === 'half-open') pair.isSilent = true
      else if (mode !== 'pass') end(pair)
    }
    if (mode === 'refuse') {
      await new Promise((resolve) => this.#server.close(resolve))
    } else if (wasRefusing) {
      this.#server = createServer((client) => this.#join(client))
      await listening(this.#server, this.port)
    }
  }

  async stop(): Promise<void> {
    for (const pair of this.#pairs) end(pair)
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #holdOrPass({ client, upstream, from }: Pair): void {
    const isHeld = this.#isHeld(from)
    for (const socket of [client, upstream]) {
      if (isHeld) socket.pause()
      else socket.resume()
    }
  }

  #join(client: Socket): void {
    const pair: Pair = {
      client,
      from: client.remoteAddress ?? '',
      upstream: connect(this.#to, this.#host),
      isSilent: this.#mode === 'silent',
    }
    this.#pairs.add(pair)
    const { upstream } = pair
    const isCut = this.#mode === 'cut'
    for (const socket of [client, upstream]) {
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#pairs.delete(pair)
        end(pair)
      })
    }
    client.on('data', (chunk) => {
      if (!pair.isSilent) upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (isCut) end(pair)
      else if (!pair.isSilent) client.write(chunk)
    })
    this.#holdOrPass(pair)
  }
}

function end({ client, upstream }: Pair): void {
  if (!client.destroyed) client.resetAndDestroy()
  upstream.destroy()
}

async function listening(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
}
