// A process that works on a queue and shows Prometheus how it goes: http://localhost:9464/metrics

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { prometheusMetrics } from '@sluice/metrics/prometheus'
import { collectDefaultMetrics, Registry } from 'prom-client'
import {
  createRateLimitingQueue,
  createWorker,
  exponential,
  type HandlerResult,
  stopOnSignals,
  TerminalError,
} from 'sluice'

const register = new Registry()
collectDefaultMetrics({ register })
const metrics = prometheusMetrics({ register })

const queue = createRateLimitingQueue<string>({
  name: 'orders',
  limiter: exponential({ baseMs: 50, maxMs: 60_000 }),
})

/** Every kind of end that a run can have, and some that take their time. */
async function reconcile(order: string): Promise<HandlerResult> {
  const number = Number(order.slice('order/'.length))
  await sleep(number % 7)
  if (number % 10 === 3) throw new Error('the warehouse does not answer')
  if (number % 50 === 4) throw new TerminalError('there is no such order')
  if (number % 10 === 5) return { requeue: true }
  if (number % 10 === 6) return { requeueAfterMs: 500 }
  return undefined
}

const worker = createWorker<string>({ queue, concurrency: 4, handler: reconcile })

let next = 0
const orders = setInterval(() => {
  // The same hundred orders again and again: most adds find their key in the queue already.
  for (let n = 0; n < 5; n += 1) queue.addSoon(`order/${(next + n) % 100}`)
  next += 3
  void queue.addAfter(`order/${next % 100}`, 1_000)
}, 25)

const server = createServer((_request, response) => {
  register.metrics().then(
    (text) => response.setHeader('content-type', register.contentType).end(text),
    (error: unknown) => response.writeHead(500).end(String(error)),
  )
})
server.listen(Number(process.env['PORT'] ?? 9464), () => {
  const { port } = server.address() as AddressInfo
  console.log(`http://localhost:${port}/metrics`)
})

const traffic = {
  async close() {
    clearInterval(orders)
    server.close()
  },
}
stopOnSignals([worker, traffic, metrics, queue])
