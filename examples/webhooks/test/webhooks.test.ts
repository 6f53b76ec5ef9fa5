import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sqliteDriver } from '@sluice/sqlite'
import { createRateLimitingQueue } from 'sluice'
import { expect, onTestFinished, test } from 'vitest'
import { deliverTo } from '../src/deliver.ts'
import { Shop } from '../src/shop.ts'

function scratchFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'webhooks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'shop.db')
}

async function sell(file: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=sluice-source', '--no-warnings', 'src/sell.ts', file],
    { cwd: join(import.meta.dirname, '..') },
  )
  return stdout
}

test('every order is delivered in its last state, and one that the receiver refuses is parked', async () => {
  const file = scratchFile()
  const stdout = await sell(file)
  expect(stdout).toContain('order anna, version 3: 204')
  expect(stdout).not.toContain('order anna, version 1')
  expect(stdout).toContain('order bert, version 1: 204')
  expect(stdout).toContain('set aside: order/carl, the partner does not want it: 422')
  expect(stdout.match(/: 503/g)).toHaveLength(1)
  expect(stdout.match(/: 429/g)).toHaveLength(1)

  const again = await sell(file)
  expect(again).toContain('order anna, version 6: 204')
  expect(again).toContain('set aside: order/carl')
})

test('an order whose transaction is rolled back is not delivered', async () => {
  const file = scratchFile()
  const webhooks = createRateLimitingQueue<string>({
    name: 'webhooks',
    driver: sqliteDriver({ file, library: 'node:sqlite' }),
  })
  await webhooks.len()
  const shop = new Shop(file, webhooks)
  expect(() => shop.save('dora', { not: 'a number' } as unknown as number)).toThrow()
  expect(await webhooks.len()).toBe(0)
  shop.save('dora', 1)
  expect(await webhooks.len()).toBe(1)
  shop.close()
  await webhooks.close()
})

test('long answers, which nothing reads, leave no connections open', async () => {
  const [open, deliveries] = [new Set<unknown>(), 20]
  const partner = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(503).end('x'.repeat(200_000)))
  })
  partner.on('connection', (connection) => {
    open.add(connection)
    connection.on('close', () => open.delete(connection))
  })
  await new Promise<void>((resolve) => void partner.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    partner.close()
    partner.closeAllConnections()
  })
  const { port } = partner.address() as AddressInfo
  const shop = { find: () => ({ id: 'anna', total: 1, version: 1 }) } as unknown as Shop
  const deliver = deliverTo(`http://127.0.0.1:${port}`, shop)
  const { signal } = new AbortController()
  const context = { key: 'order/anna', token: 1, failures: 0, crashes: 0, priority: 0, signal }
  for (let at = 0; at < deliveries; at += 1) {
    await expect(deliver('order/anna', context)).rejects.toThrow('the partner answered 503')
  }
  expect(open.size).toBeLessThan(deliveries / 2)
})
