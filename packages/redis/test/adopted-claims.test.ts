import type { Ask } from '@sluice/core/driver'
import { systemEnvironment } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { hasRedis, startRedis } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Reply } from '../src/connection/connections.ts'
import { openConnections } from '../src/connection/open-connections.ts'
import { Layout } from '../src/rows/layout.ts'
import { StoreTime } from '../src/rows/store-time.ts'
import { Store, verbStart } from '../src/store.ts'
import { add } from '../src/verbs/add.ts'
import { adopt, claim } from '../src/verbs/claim.ts'
import { finish } from '../src/verbs/finish.ts'
import { ask, askOptions as options } from './support/asks.ts'

const batch = 500

describe.skipIf(!hasRedis)('looking for the claims of a request', () => {
  test('finds all of them, also if other keys are finished meanwhile', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const environment = systemEnvironment
    const connections = await openConnections({ url: server.url, timeoutMs: 20_000, environment })
    onTestFinished(() => connections.close())
    const clock = fakeClock()
    const store = new Store({
      connections,
      layout: new Layout({ prefix: 's:', oneSlot: false, isCluster: false }),
      time: new StoreTime(clock, () => clock.monotonicMs()),
      environment,
      replicas: 0,
      confirmMs: 5_000,
    })
    const request = { limit: batch, holder: 'h', leaseMs: 60_000 }
    const claims = async (claimId: string) => {
      const asks = Array.from({ length: batch }, (_, nth): Ask => {
        return ask(`${claimId} ${nth}`)
      })
      await add(store, 'q', asks, options)
      const reply = await claim(store, 'q', { ...request, claimId }, 1_000_000, () => {})
      await clock.step(10)
      return reply.claims
    }
    await claims('first')
    const [{ key, token } = expect.fail()] = await claims('second')
    await claims('third')
    // Between the two scripts of the look, another process finishes a key of the first page.
    const run = store.run.bind(store)
    store.run = async (...call): Promise<readonly Reply[]> => {
      const reply = await run(...call)
      if (call[0] === 'adopt' && reply[verbStart] !== '') {
        await finish(store, 'q', [{ as: 'done', key, token, forget: true }], options)
      }
      return reply
    }
    expect((await adopt(store, 'q', 'third', () => {})).length).toBe(batch)
    // A claim refuses a key of which the item is lost, and so does what looks for one.
    await add(store, 'q', [{ ...ask('with an item'), item: '{}' }], options)
    await claim(store, 'q', { ...request, claimId: 'fourth' }, 1_000_000, () => {})
    await server.command('DEL', 's:{q}:items')
    await expect(adopt(store, 'q', 'fourth', () => {})).rejects.toMatchObject({
      code: 'ERR_STORE_DAMAGED',
    })
  })
})
