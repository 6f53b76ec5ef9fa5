import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The server that webhooks are sent to. It can be broken, as those of customers can. */
export interface CustomersServer {
  readonly url: string
  /** Whether it answers every request with 503. */
  isBroken: boolean
  close(): void
}

/** Starts the server on this machine, on any free port. */
export async function startCustomersServer(): Promise<CustomersServer> {
  const server = createServer((_, response) => {
    response.writeHead(customers.isBroken ? 503 : 204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A worker that calls it must not keep the demo alive.
  server.unref()
  const { port } = server.address() as AddressInfo
  const customers: CustomersServer = {
    url: `http://127.0.0.1:${port}/`,
    isBroken: false,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return customers
}

class HttpError extends Error {
  readonly code: string

  constructor(url: string, status: number) {
    super(`POST ${url} answered ${status}`)
    this.name = 'HttpError'
    this.code = `HTTP_${status}`
  }
}

/** Sends a webhook; rejects unless the server takes it. */
export async function sendWebhook(url: string, key: string, signal: AbortSignal): Promise<void> {
  const address = new URL(key, url).href
  const { ok, status } = await fetch(address, { method: 'POST', signal })
  if (!ok) throw new HttpError(address, status)
}
