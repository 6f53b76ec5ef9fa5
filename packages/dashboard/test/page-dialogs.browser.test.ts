import type { RateLimitingQueue } from 'sluice'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from './browser/chromium.ts'
import { type Served, serve } from './browser/served.ts'
import { SharedVisit } from './browser/shared-visit.ts'
import { startBrowser } from './browser/stage.ts'
import { ordersPage, Visit } from './browser/visit.ts'

describe.skipIf(!hasChromium)('a dialog and a filter', { timeout: 240_000 }, () => {
  const stage = startBrowser()
  const { stores } = stage
  let served: Served
  let queue: RateLimitingQueue<unknown>
  const desk = new SharedVisit(() => Visit.begin(stage.browser, served))

  beforeAll(async () => {
    const driver = stores.sqlite()
    queue = stores.queue(driver, 'orders')
    await queue.addMany(
      Array.from({ length: 150 }, (_, at) => `key/${String(at).padStart(3, '0')}`),
    )
    served = await serve({ driver })
    stores.closing(() => served.stop())
  })
  afterAll(() => desk.end())

  it(
    'ends a count that was left, and says why one failed',
    desk.on(async (visit) => {
      const { page } = visit
      visit.expected.push(/503/)
      const isCount = (request: { url(): string }) => request.url().includes('api/matching')
      await page.route('**/api/matching?*', () => undefined)
      await visit.go({ ...ordersPage, keys: { state: 'ready' } })
      const park = page.getByRole('button', { name: 'Park …', exact: true })
      const asked = page.waitForRequest(isCount)
      await park.click()
      await asked
      const ended = page.waitForEvent('requestfailed', isCount)
      await page.getByRole('button', { name: 'Cancel' }).click()
      await ended
      await page.unroute('**/api/matching?*')
      const refusal = { status: 503, json: { code: 'ERR_STORE', message: 'it is away' } }
      await page.route('**/api/matching?*', (route) => route.fulfill(refusal))
      await park.click()
      await visit.reads('dialog', /The keys could not be counted: it is away/)
      const yes = page.getByRole('dialog').getByRole('button', { name: 'Park', exact: true })
      expect(await yes.getAttribute('aria-disabled')).toBe('true')
      await page.unroute('**/api/matching?*')
    }),
  )

  it(
    'sends an action once, however often its button is pressed, and can send it again',
    desk.on(async (visit) => {
      const { page } = visit
      visit.expected.push(/503/)
      let sent = 0
      const answer = Promise.withResolvers<void>()
      await page.route('**/api/act', async (route) => {
        sent += 1
        await answer.promise
        await route.fulfill({ status: 503, json: { code: 'ERR_STORE', message: 'no' } })
      })
      await visit.go({ at: 'key', queue: 'orders', key: 'key/000' })
      await page.getByRole('button', { name: 'Park', exact: true }).click()
      const yes = page.getByRole('button', { name: 'Park 1 key' })
      await yes.click()
      await visit.until(() => yes.getAttribute('aria-disabled'), 'true')
      await yes.click({ force: true })
      answer.resolve()
      await visit.reads('.notice.failed', 'Nothing changed: no')
      expect(sent).toBe(1)
      await page.unroute('**/api/act')
      await yes.click()
      await visit.reads('.key-state', 'parked')
      await queue.inspect.unpark('key/000')
    }),
  )

  it(
    'changes no further key once it is cancelled, and keeps what is selected then',
    desk.on(async (visit) => {
      const { page } = visit
      const answer = Promise.withResolvers<void>()
      await page.route('**/api/act', async (route) => {
        await answer.promise
        await route.continue()
      })
      await visit.go({ ...ordersPage, keys: { prefix: 'key/00' } })
      for (const key of ['key/001', 'key/002', 'key/003']) {
        await page.getByLabel(`Select ${key}`).click()
      }
      await page.getByRole('button', { name: 'Park', exact: true }).click()
      const sent = page.waitForRequest('**/api/act')
      await page.getByRole('button', { name: 'Park 3 keys' }).click()
      await sent
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByLabel('Select key/003').click()
      answer.resolve()
      await visit.reads('.notice', 'Cancelled after 1 of 3 keys.')
      await visit.reads('.bulk-what', /^2 selected/)
      await page.unroute('**/api/act')
      expect((await queue.inspect.get('key/002'))?.state).toBe('ready')
      await page.getByRole('button', { name: 'Unpark', exact: true }).click()
      await page.getByRole('button', { name: 'Unpark 2 keys' }).click()
      await visit.reads('.notice', '1 of 2 keys changed.')
      await visit.reads('.bulk-what', 'All that match: starting with “key/00”')
      expect(await visit.count('dialog')).toBe(0)
    }),
  )

  it(
    'does not claim of many keys that nothing changed when the store has failed',
    desk.on(async (visit) => {
      const { page } = visit
      visit.expected.push(/503/)
      const away = { status: 503, json: { code: 'ERR_STORE', message: 'away' } }
      await page.route('**/api/act', (route) => route.fulfill(away))
      await visit.go({ ...ordersPage, keys: { prefix: 'key/00' } })
      await page.getByRole('button', { name: 'Purge', exact: true }).click()
      await page.locator('dialog input').fill('orders')
      await page.getByRole('button', { name: 'Purge 150 keys' }).click()
      const words = 'The change may have been made, or a part of it: away'
      await visit.reads('.notice', words)
      await page.getByRole('button', { name: 'Close' }).click()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('button', { name: 'Park …', exact: true }).click()
      await page.getByRole('button', { name: 'Park 10 keys' }).click()
      await visit.reads('.notice', words)
      await page.unroute('**/api/act')
    }),
  )

  it(
    'is closed when Back leads to other filters',
    desk.on(async (visit) => {
      const { page } = visit
      await visit.go({ ...ordersPage, keys: { prefix: 'key/01' } })
      await visit.go({ ...ordersPage, keys: { prefix: 'key/00' } })
      await page.getByRole('button', { name: 'Park …', exact: true }).click()
      await page.getByRole('button', { name: 'Park 10 keys' }).waitFor()
      await page.goBack()
      await visit.reads('.bulk-what', 'All that match: starting with “key/01”')
      expect(await visit.count('dialog')).toBe(0)
    }),
  )

  it(
    'stays open when the action of the one before it is answered',
    desk.on(async (visit) => {
      const { page } = visit
      const answer = Promise.withResolvers<void>()
      await page.route('**/api/act', async (route) => {
        await answer.promise
        await route.continue()
      })
      await visit.go({ at: 'key', queue: 'orders', key: 'key/000' })
      for (const [open, send] of [
        ['Park', 'Park 1 key'],
        ['Add again', 'Add 1 key'],
      ] as const) {
        await page.getByRole('button', { name: open, exact: true }).click()
        const sent = page.waitForRequest('**/api/act')
        await page.getByRole('button', { name: send }).click()
        await sent
        await page.getByRole('button', { name: 'Cancel' }).click()
      }
      await page.getByRole('button', { name: 'Remove', exact: true }).click()
      answer.resolve()
      await visit.until(() => visit.count('dialog .notice'), 2)
      await visit.reads('dialog h2', 'Remove 1 key?')
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.unroute('**/api/act')
      await queue.inspect.unpark('key/000')
    }),
  )

  it(
    'refuses a delay below zero and a part of a priority',
    desk.on(async (visit) => {
      const { page } = visit
      await visit.go(ordersPage)
      await page.getByRole('button', { name: 'Add key' }).click()
      const add = page.getByRole('button', { name: 'Add 1 key' })
      await add.click()
      await visit.reads('dialog .refusal', /at least one character/)
      await page.getByLabel('Key', { exact: true }).fill('fresh')
      await page.getByLabel('Delay, in seconds').fill('-1')
      await add.click()
      await visit.reads('dialog .refusal', /delay is not a number/)
      await page.getByLabel('Delay, in seconds').fill('')
      await page.getByLabel('Priority').fill('1.5')
      await add.click()
      await visit.reads('dialog .refusal', /priority is not a whole number/)
      expect(await queue.inspect.get('fresh')).toBeUndefined()
    }),
  )

  it(
    'begins at the first page of what is filtered',
    desk.on(async (visit) => {
      const { page } = visit
      await visit.go(ordersPage)
      const rows = () => visit.count('.key-grid tbody .row')
      await visit.until(rows, 100)
      await page.getByRole('button', { name: 'Next page' }).click()
      await visit.until(rows, 50)
      await page.getByLabel('Keys that start with').fill('key/01')
      await visit.until(rows, 10)
    }),
  )

  it(
    'goes on with a search that was stopped or has failed, and with one at a time',
    desk.on(async (visit) => {
      const { page } = visit
      visit.expected.push(/503/)
      const isPart = (request: { url(): string }) => /api\/keys\?.*cursor=/.test(request.url())
      const away = { status: 503, json: { code: 'ERR_STORE', message: 'it is away' } }
      const last = { json: { at: 1, keys: [], lookedAt: 1 } }
      const parts = [undefined, away, last]
      await page.route('**/api/keys?*', (route) => {
        if (!isPart(route.request())) {
          const json = { at: 1, keys: [], cursor: 'key/100', lookedAt: 20_000 }
          return route.fulfill({ json })
        }
        const answer = parts.shift()
        return answer === undefined ? undefined : route.fulfill(answer)
      })
      const first = page.waitForRequest(isPart)
      await visit.go({ ...ordersPage, keys: { failuresMin: 1 } })
      await first
      await page.getByRole('button', { name: 'Stop' }).click()
      const ended = page.waitForEvent('requestfailed', isPart)
      await page.getByRole('button', { name: 'Continue the search' }).click()
      await ended
      await visit.reads('.keys [role=alert]', /could not be read: it is away/)
      await visit.reads(
        '.keys [role=status]',
        '20,000 keys searched, 0 matches. Continue the search',
      )
      await page.getByRole('button', { name: 'Continue the search' }).click()
      await visit.reads('.keys', /No keys match/)
      expect(await visit.count('.keys [role=alert]')).toBe(0)
      await page.unroute('**/api/keys?*')
    }),
  )

  it(
    'keeps the keys of a page selected when those of another are selected, or no longer',
    desk.on(async (visit) => {
      const { page } = visit
      await visit.go(ordersPage)
      const rows = () => visit.count('.key-grid tbody .row')
      const every = page.getByLabel('Select every key that is shown')
      await visit.until(rows, 100)
      await every.click()
      await visit.reads('.bulk-what', /^100 selected/)
      await page.getByRole('button', { name: 'Next page' }).click()
      await visit.until(rows, 50)
      await every.click()
      await visit.reads('.bulk-what', /^150 selected/)
      await every.click()
      await visit.reads('.bulk-what', /^100 selected/)
    }),
  )
})
