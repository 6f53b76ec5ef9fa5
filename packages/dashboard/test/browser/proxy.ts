import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A reverse proxy that serves what is at an address under another path. */
export interface Proxy {
  readonly url: string
  stop(): Promise<void>
}

/** Serves what is at an address on this machine under a path, as proxies of many services do. */
export async function proxyTo(address: URL, path: string): Promise<Proxy> {
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming
    const there = new URL(address.pathname + url.slice(path.length), address)
    const passed = request(there, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${path}/`,
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
