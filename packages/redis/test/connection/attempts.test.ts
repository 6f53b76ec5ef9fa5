import assert from 'node:assert/strict'
import { systemEnvironment } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { hasRedis, startRedis } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Address, LinkOptions } from '../../src/clients/link.ts'
import { Cluster } from '../../src/connection/cluster.ts'
import { ConnectionError } from '../../src/connection/connections.ts'
import { OnePrimary } from '../../src/connection/one-primary.ts'
import { libraries, open, refusal } from './support.ts'

const seconds = 20

/** Servers to which no connection can be opened. */
function nowhere() {
  const clock = fakeClock()
  const attempts: { readonly to: string; readonly at: number }[] = []
  const options: LinkOptions = {
    environment: { ...systemEnvironment, clock, random: () => 0.5 },
    timeoutMs: 5_000,
    async openClient(address: Address | undefined) {
      attempts.push({ to: JSON.stringify(address), at: clock.monotonicMs() })
      throw new Error('refused')
    },
  }
  return { clock, attempts, options }
}

describe('while no server can be reached', () => {
  test('one is tried three times in the first second at most, then once a second', async () => {
    const { clock, attempts, options } = nowhere()
    const primary = new OnePrimary(options, async () => ({ host: 'a', port: 1 }))
    await expect(primary.refresh()).rejects.toThrow(/refused/)
    for (let step = 0; step < seconds * 20; step += 1) await clock.step(50)
    primary.close()
    const start = attempts[0]?.at ?? 0
    expect(attempts.filter(({ at }) => at - start < 1_000).length).toBeLessThanOrEqual(3)
    expect(attempts.length).toBeGreaterThan(seconds / 2)
    expect(attempts.length).toBeLessThanOrEqual(seconds + 3)
  })

  test('each node of a cluster is tried once a second for the table of slots', async () => {
    const { clock, attempts, options } = nowhere()
    const roots = [1, 2, 3].map((port) => ({ host: 'a', port }))
    const cluster = new Cluster(options, [...roots, ...roots])
    cluster.doubt()
    for (let step = 0; step < seconds * 20; step += 1) await clock.step(50)
    cluster.close()
    for (const root of roots) {
      const tried = attempts.filter(({ to }) => to === JSON.stringify(root)).length
      expect(tried).toBeGreaterThan(seconds / 2)
      expect(tried).toBeLessThanOrEqual(seconds + 1)
    }
  })
})

describe.skipIf(!hasRedis)('while the server can be reached', () => {
  test.each(libraries)(
    'a command after the end of a connection waits for the next: %s',
    async (library) => {
      const server = await startRedis()
      onTestFinished(() => server.dispose())
      const connections = await open({ url: server.url, library })
      const lost = refusal(connections.send('k', ['BLPOP', 'nothing', '0']))
      await expect.poll(() => server.info('blocked_clients')).toBe('1')
      await server.command('CLIENT', 'KILL', 'TYPE', 'normal')
      const error = await lost
      assert.ok(error instanceof ConnectionError && error.wasSent)
      // A call that is repeated is sent at once, and the server is there.
      assert.equal(await connections.send('k', ['PING']), 'PONG')
    },
  )
})
