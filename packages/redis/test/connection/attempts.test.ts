import { systemEnvironment } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test } from 'vitest'
import type { Address, LinkOptions } from '../../src/clients/link.ts'
import { Cluster } from '../../src/connection/cluster.ts'
import { OnePrimary } from '../../src/connection/one-primary.ts'

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
