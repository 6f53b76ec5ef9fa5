// A shop, a partner who refuses at first, and the worker between them.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { sqliteDriver } from '@sluice/sqlite'
import { createRateLimitingQueue, createWorker, exponential } from 'sluice'
import { deliverTo } from './deliver.ts'
import { type Order, Shop } from './shop.ts'

const file = process.argv[2] ?? join(tmpdir(), 'sluice-webhooks.db')

const partner = createServer((request, response) => {
  void text(request).then((body) => answer(JSON.parse(body) as Order, response))
})
let requests = 0
const settled = new Set<string>()
const allSettled = Promise.withResolvers<void>()

function answer(order: Order, response: ServerResponse): void {
  requests += 1
  const status = requests === 1 ? 503 : requests === 2 ? 429 : order.total < 0 ? 422 : 204
  console.log(`order ${order.id}, version ${order.version}: ${status}`)
  response.writeHead(status, status === 429 ? { 'retry-after': '0.2' } : {}).end()
  if (status === 204 || status === 422) settled.add(order.id)
  if (settled.size === 3) allSettled.resolve()
}

await new Promise<void>((resolve) => {
  partner.listen(0, '127.0.0.1', resolve)
})
const { port } = partner.address() as AddressInfo

const webhooks = createRateLimitingQueue<string>({
  name: 'webhooks',
  driver: sqliteDriver({ file, library: 'node:sqlite' }),
  limiter: exponential({ baseMs: 100, maxMs: 60_000 }),
})
// The file has the queue in it before the first transaction speaks of it.
await webhooks.len()
const shop = new Shop(file, webhooks)
for (const total of [10, 20, 30]) shop.save('anna', total)
shop.save('bert', 5)
shop.save('carl', -1)
// An earlier start on this file has parked it, and adds alone leave it parked.
await webhooks.inspect.unpark('order/carl')

const worker = createWorker({
  queue: webhooks,
  concurrency: 2,
  timeoutMs: 10_000,
  onTerminal: 'park',
  handler: deliverTo(`http://127.0.0.1:${port}/`, shop),
})
await allSettled.promise
await worker.stop()
const { keys } = await webhooks.inspect.list({ state: 'parked' })
for (const { key, lastError } of keys) console.log(`set aside: ${key}, ${lastError?.message}`)
shop.close()
await webhooks.close()
partner.close()
