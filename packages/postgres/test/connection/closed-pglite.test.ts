/** A PGlite client that its owner closes before the driver. */
import { PGlite } from '@electric-sql/pglite'
import { expect, test } from 'vitest'
import { postgresDriver } from '../../src/index.ts'

const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
const one = { key: 'a', item: undefined, priority: 0, delayMs: 0 }

test('calls on a closed client reject at once, with nothing done, and the driver closes', async () => {
  const client = await PGlite.create()
  const driver = postgresDriver({ client, onWarning() {} })
  await driver.open({})
  await driver.add('q', [one], options)
  await client.close()

  // Retryable or unknown, the queue would repeat it until its timeoutMs.
  const refused = expect.objectContaining({ code: 'ERR_STORE', retryable: false })
  await expect(driver.add('q', [one], options)).rejects.toEqual(refused)
  await expect(driver.counts('q', { cap: 10 })).rejects.toEqual(refused)
  await expect(driver.operate!.purge('q')).rejects.toEqual(refused)
  await driver.close()
})
