import assert from 'node:assert/strict'
import type { Driver, TransferRow } from '@sluice/core/driver'
import { never } from '@sluice/core/driver'
import { hasRedis, type ReplicatedRedis, startReplicated } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, onTestFinished, test, vi } from 'vitest'
import { redisDriver } from '../src/index.ts'

const row: TransferRow = {
  ...{
    key: 'a',
    item: undefined,
    lastError: undefined,
    why: 'add',
    laterWhy: 'add',
    trace: undefined,
  },
  ...{ dueAt: 5, laterAt: never, readyAt: 5, askedAt: 5, failedAt: never },
  ...{ seq: 7, priority: 0, failures: 0, crashes: 0, parked: false },
}

/** Verbs whose loss in a failover would undo a decision. */
const verbs: Readonly<Record<string, (driver: Driver) => unknown>> = {
  pause: ({ operate }) => operate?.pause('paused'),
  park: ({ operate }) => operate?.park('q', ['a']),
  unpark: ({ operate }) => operate?.unpark('q', ['a'], { forget: false }),
  remove: ({ operate }) => operate?.remove('q', ['a']),
  purge: ({ operate }) => operate?.purge('q'),
  importRows: ({ transfer }) => transfer?.importRows('q', [row]),
  dropRows: ({ transfer }) => transfer?.dropRows('q', [row]),
  importBuckets: ({ transfer }) =>
    transfer?.importBuckets([{ name: 'b', perSecond: 1, burst: 1, tokens: 0, at: 5 }]),
  raiseTokens: ({ transfer }) => transfer?.raiseTokens(5),
}

describe.skipIf(!hasRedis)('verbs that wait for replicas', () => {
  let servers: ReplicatedRedis

  beforeAll(async () => {
    servers = await startReplicated()
  })

  afterAll(() => servers.dispose())

  test.for(Object.entries(verbs))(
    'the outcome of %s is unknown while the replica does not answer',
    async ([, act]) => {
      const driver = redisDriver({ url: servers.url, timeoutMs: 300 })
      // A busy machine may hold up the server for longer.
      await vi.waitFor(async () => await driver.open({}), { timeout: 45_000 })
      onTestFinished(() => driver.close())
      const [replica] = servers.replicas
      const outcome = async (): Promise<unknown> =>
        await Promise.resolve(act(driver)).then(
          () => 'acknowledged',
          ({ code }) => code,
        )
      replica?.pause()
      // Something that the replica lacks, also where the verb finds nothing to write.
      await servers.primary.command('INCR', 'written')
      try {
        let code: unknown
        await vi.waitFor(
          async () => {
            code = await outcome()
            // Not sent: the machine held up the primary for longer than the limit before.
            assert.notEqual(code, 'ERR_STORE')
          },
          { timeout: 45_000 },
        )
        assert.equal(code, 'ERR_UNKNOWN_OUTCOME')
      } finally {
        replica?.resume()
      }
    },
  )
  async function userWithoutWait(): Promise<string> {
    const rules = ['on', '>pw', '~*', '&*', '+@all', '-wait']
    await servers.primary.command('ACL', 'SETUSER', 'app', ...rules)
    return servers.url.replace('//', '//app:pw@')
  }

  test.for(Object.entries(verbs))('%s waits for none where WAIT is withheld', async ([, act]) => {
    const driver = redisDriver({ url: await userWithoutWait() })
    await driver.open({})
    onTestFinished(() => driver.close())
    await act(driver)
  })

  test('durability.replicas is refused where WAIT is withheld', async () => {
    const url = await userWithoutWait()
    const driver = redisDriver({ url, durability: { replicas: 1 } })
    await assert.rejects(async () => await driver.open({}), {
      code: 'ERR_STORE',
      retryable: false,
      message: /durability\.replicas asks for: NOPERM .*; grant the user WAIT/,
    })
  })
})
