import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** A message of the server: its type, and what follows its length. */
function message(type: string, body: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + body.length)
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body, 'latin1')])
}

const messages = {
  ready: Buffer.concat([message('R', '\0\0\0\0'), message('Z', 'I')]),
  answer: message('C', 'SELECT 1\0'),
  /** What a server says to each of its connections before it stops. */
  ended: message('E', 'SFATAL\0C57P01\0Mterminating connection\0\0'),
}

/** A server of which a test says what each of its packets has. */
export interface AnsweringServer {
  readonly port: number
  stop(): Promise<void>
}

/** Starts one that answers the first packet that comes over a connection with the first of these, and so on. */
export async function answeringServer(
  answers: readonly (readonly (keyof typeof messages)[])[],
): Promise<AnsweringServer> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    const left = [...answers]
    socket.on('data', () => {
      const answer = left.shift()
      if (answer === undefined) socket.end()
      else socket.write(Buffer.concat(answer.map((name) => messages[name])))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    },
  }
}
