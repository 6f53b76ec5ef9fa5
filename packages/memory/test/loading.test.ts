import { expect, test, vi } from 'vitest'
import { memoryDriver } from '../src/index.ts'

// On a server the tables are read with the package; here they are loaded as in a browser.
vi.mock('#tables', () => import('../src/browser/load-tables.ts'))

const network = vi.hoisted(() => ({ isUp: false }))

vi.mock('../src/tables.ts', async (original) => {
  if (!network.isUp) throw new TypeError('Failed to fetch')
  return await original()
})

test('the first driver that is opened fetches the tables, again if that has failed', async () => {
  const driver = memoryDriver()
  await expect(driver.open({})).rejects.toMatchObject({ code: 'ERR_STORE', retryable: true })
  network.isUp = true
  vi.resetModules()
  const opening = driver.open({})
  expect(opening).toBeInstanceOf(Promise)
  await opening
  const asks = [{ key: 'a', item: undefined, priority: 0, delayMs: 0 }]
  const options = { dedupe: 'client-go', failuresExpireMs: 1_000, maxPending: undefined } as const
  expect(driver.add('orders', asks, options)).toMatchObject([{ outcome: 'added' }])
  // From then on, every driver opens synchronously.
  expect(memoryDriver().open({})).toBeUndefined()
})
