import assert from 'node:assert/strict'
import { needs } from '@sluice/needs'
import { hasRedis, slotOf, startCluster } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { libraries, open } from './support.ts'

describe.skipIf(!needs('redis-server', hasRedis))('a slot that moves away and back at once', () => {
  test.each(libraries)('keeps its subscription, with %s', async (library) => {
    const cluster = await startCluster()
    onTestFinished(() => cluster.dispose())
    const url = `redis-cluster://${cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`
    const connections = await open({ url, library })
    const channel = '{a}:wake'
    await connections.subscribe(channel, { onMessage: () => {}, onGap: () => {} })
    const owner = await cluster.primaryOf(channel)
    const other = (await cluster.primaries()).find((node) => node !== owner)
    assert.ok(other)
    // The server ends the subscription. When the table of slots is read, nothing in it has changed.
    const setSlot = (id: string) =>
      owner.process.command('CLUSTER', 'SETSLOT', slotOf(channel), 'NODE', id)
    await Promise.all([setSlot(other.id), setSlot(owner.id)])
    await expect.poll(() => owner.process.command('SPUBLISH', channel, 'hello')).toBe(1)
  })
})
