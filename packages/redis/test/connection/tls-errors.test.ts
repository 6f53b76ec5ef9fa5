import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import { expect, onTestFinished, test, vi } from 'vitest'
import { libraries, open, refusal } from './support.ts'

// A key that both sides have: no certificate is needed.
const psk = Buffer.from('a key of both sides')
const shared = { ciphers: 'PSK-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' } as const

async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** The port of a server of TLS, of which what ends the handshake comes together with what is no TLS. */
async function brokenPort(): Promise<number> {
  const secure = createTlsServer({ ...shared, pskCallback: () => psk })
  secure.on('tlsClientError', () => {}).on('secureConnection', (one) => one.on('error', () => {}))
  const to = await portOf(secure)
  const between = createServer((client) => {
    const upstream = connect(to, '127.0.0.1').on('error', () => {})
    client.on('error', () => {}).on('close', () => upstream.destroy())
    client.pipe(upstream)
    let chunks = 0
    upstream.on('data', (chunk) => {
      chunks += 1
      client.write(chunks === 1 ? chunk : Buffer.concat([chunk, Buffer.from('no record of TLS')]))
    })
  })
  return await portOf(between)
}

test.each(libraries)(
  '%s: a socket of TLS with two errors does not end the process',
  async (library) => {
    /** How many listen to each error of each socket. */
    const heard = new Map<unknown, number[]>()
    const { emit } = TLSSocket.prototype
    vi.spyOn(TLSSocket.prototype, 'emit').mockImplementation(function (
      this: TLSSocket,
      ...[name, ...values]: [string | symbol, ...unknown[]]
    ) {
      const listeners = this.listenerCount(name)
      if (name === 'error') heard.set(this, [...(heard.get(this) ?? []), listeners])
      // Without a listener, it would throw.
      return (name !== 'error' || listeners > 0) && Reflect.apply(emit, this, [name, ...values])
    } as typeof emit)
    onTestFinished(() => void vi.restoreAllMocks())
    const port = await brokenPort()
    const tls = {
      ...shared,
      pskCallback: () => ({ psk, identity: 'a client' }),
      checkServerIdentity: () => new Error('it is another server'),
    }
    const hasTwo = (): boolean => [...heard.values()].some(({ length }) => length > 1)
    while (!hasTwo()) {
      const url = `rediss://127.0.0.1:${port}`
      expect(String(await refusal(open({ url, library, tls })))).toContain('it is another server')
    }
    expect([...heard.values()].flat()).not.toContain(0)
  },
)
