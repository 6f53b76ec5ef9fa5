import { startPostgres } from '@sluice/test-postgres'
import type { Route } from 'playwright-core'
import { memoryDriver } from 'sluice'
import { afterEach, describe, expect, it } from 'vitest'
import { serveDashboard } from '../src/node.ts'
import { hasChromium } from './browser/chromium.ts'
import { serve, token } from './browser/served.ts'
import { startBrowser } from './browser/stage.ts'
import { coded, failOnce } from './browser/stores.ts'
import { ordersPage, overview, Visit } from './browser/visit.ts'
import { visitOrders } from './browser/visit-orders.ts'

describe.skipIf(!hasChromium)('the live page', { timeout: 240_000 }, () => {
  const stage = startBrowser()
  const { stores } = stage

  afterEach(() => stores.closeAll())

  it('says of how many queues it shows some, and opens the others by name', async () => {
    const driver = memoryDriver()
    const served = await serve({ driver, tickMs: 60_000 })
    stores.closing(() => served.stop())
    await Promise.all(
      Array.from({ length: 1_003 }, (_, at) => stores.queue(driver, `tenant/${at}`).add('a')),
    )
    const visit = await Visit.begin(stage.browser, served, overview)
    await visit.reads('.totals', /^1,000 of 1,003 queues /)
    await visit.go({ ...overview, filter: 'tenant/999' })
    await visit.reads('main .none', /^No queue that is shown has “tenant.999” in its name/)
    await visit.page.getByRole('link', { name: 'Open the queue “tenant/999”' }).click()
    await visit.reads('main', /1 key ready, and no worker is online/)
    visit.check()
  })

  it('never resets what the user is doing', async () => {
    const { queue, visit } = await visitOrders(stage, 90, ordersPage)
    const { page } = visit
    await visit.until(() => visit.count('.key-grid tbody .row'), 90)
    await page.getByLabel('Select key/050').click()
    const filtered = page.waitForResponse(/api\/keys\?prefix=key%2F0&/)
    await page.getByLabel('Keys that start with').fill('key/0')
    await filtered
    await page.getByLabel('Failures ≥').focus()
    await page.locator('[data-row="key/070"] a').focus()
    const from = await page.evaluate(() => scrollY)
    await page.mouse.wheel(0, 600)
    await page.waitForFunction((start) => {
      const end = Math.min(start + 600, document.documentElement.scrollHeight - innerHeight)
      return Math.abs(scrollY - end) < 1
    }, from)
    const place = () =>
      page.evaluate(() => Math.round(document.activeElement?.getBoundingClientRect().top ?? 0))
    const before = await place()
    // Above, in and below the visible part.
    await queue.addMany(['key/000a', 'key/065a', 'key/099a', 'aaa'])
    for (const key of ['key/001', 'key/069']) await queue.inspect.remove(key)
    await visit.reads('.tile-ready', /ready \? 92/)
    await visit.until(() => visit.count('.key-grid .row.gone'), 2)
    expect(await place()).toBe(before)
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('key/070')
    expect(await page.getByLabel('Keys that start with').inputValue()).toBe('key/0')
    await page.getByLabel('Failures ≥').focus()
    await page.mouse.move(5, 5)
    await visit.until(() => visit.count('.key-grid .row.gone'), 0)
    expect(await visit.count('.row.selected')).toBe(0)
    await page.getByLabel('Select key/050').click()
    await queue.add('key/000b')
    await visit.until(() => visit.count('[data-row="key/000b"]'), 1)
    expect(await page.locator('.row.selected').getAttribute('data-row')).toBe('key/050')
    await visit.end()
  })

  it('keeps opened parts open, and the text that is being typed', async () => {
    const key = 'json:{"four":4}'
    const { queue, visit } = await visitOrders(stage, 0, {
      at: 'key',
      queue: 'orders',
      key,
    })
    await queue.add({ four: 4 })
    const held = await queue.get()
    await held?.retry(new Error('with a stack'))
    await visit.reads('.key-state', 'backoff')
    await visit.page.click('.errors summary')
    await visit.page.click('text=show the item')
    await visit.reads('.json', /"four": 4/)
    await visit.page.getByRole('button', { name: 'Add again' }).click()
    await visit.page.getByLabel('Item, as JSON').fill('{"half":')
    await queue.inspect.runNow(key)
    await visit.reads('.key-state', 'ready')
    expect(await visit.page.getByLabel('Item, as JSON').inputValue()).toBe('{"half":')
    expect(await visit.page.locator('.errors details').getAttribute('open')).not.toBeNull()
    await visit.reads('.json', /"four": 4/)
    await visit.end()
  })

  it('says of when an item is, and shows none of a key that was removed since', async () => {
    const key = 'json:{"four":4}'
    const { queue, visit } = await visitOrders(stage, 0, { at: 'key', queue: 'orders', key })
    await queue.add({ four: 4 })
    await visit.page.click('text=show the item')
    await visit.reads('.panel .aside', /item read (<1|\d) s ago hide the item/)
    await queue.inspect.remove(key)
    await visit.reads('.panel', /This key is not stored/)
    await queue.add({ four: 4 })
    await visit.reads('.panel .aside', /show the item/)
    expect(await visit.page.locator('.json').textContent()).not.toContain('"four": 4')
    await visit.end()
  })

  it('opens a code of failures in one queue at a time', async () => {
    const { driver, queue, visit } = await visitOrders(stage, 0, { at: 'failures' })
    const { page } = visit
    const mails = stores.queue(driver, 'mails')
    for (const each of [queue, mails]) await failOnce(each, 'a', coded('E_HOST', 'is away'))
    const opened = page.locator('.failure-row.open .failure-queue')
    await page.locator('.failure-row', { hasText: 'mails' }).locator('.failure-code').click()
    expect(await opened.allInnerTexts()).toEqual(['mails'])
    await page.reload()
    await visit.until(() => opened.allInnerTexts(), ['mails'])
    await page.locator('.failure-row', { hasText: 'orders' }).locator('.failure-code').click()
    expect(await opened.allInnerTexts()).toEqual(['orders'])
    await opened.click()
    await visit.until(() => visit.count('.failure-details'), 1)
    await page.getByRole('link', { name: 'Failures of every queue' }).click()
    await visit.until(() => visit.count('.failure-row'), 2)
    expect(await opened.allInnerTexts()).toEqual(['orders'])
    await visit.end()
  })

  it('does not let rows jump under the pointer', async () => {
    const { driver, queue, visit } = await visitOrders(stage, 1, overview)
    const certs = stores.queue(driver, 'certs')
    await certs.addAfter('x', 3_600_000)
    const names = () =>
      visit.page
        .locator('.overview .row')
        .evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset['row']))
    await visit.until(names, ['orders', 'certs'])
    await visit.page.hover('[data-row=certs]')
    await certs.inspect.runNow('x')
    await queue.inspect.runNow('key/000')
    await queue.inspect.remove('key/000')
    await queue.addAfter('later', 3_600_000)
    await visit.reads('[data-row=certs]', /no workers/)
    await visit.reads('[data-row=orders]', /ok/)
    expect(await names()).toEqual(['orders', 'certs'])
    await visit.page.mouse.move(5, 5)
    await visit.until(names, ['certs', 'orders'])
    await visit.end()
  })

  it('stands still while it is paused, and catches up', async () => {
    const { queue, served, visit } = await visitOrders(stage, 1, overview)
    const other = await Visit.begin(stage.browser, served, overview)
    await visit.page.getByRole('button', { name: 'Pause updates' }).click()
    await visit.reads('.freshness', /^paused updated/)
    await queue.addMany(['a', 'b'])
    await other.reads('.overview .row', /online\. 3 /)
    await visit.reads('.overview .row', /online\. 1 /)
    await visit.page.click('.overview .row')
    await visit.reads('.tile-ready', /ready \? 3/)
    await visit.page.getByRole('button', { name: 'Pause updates' }).click()
    await visit.reads('.freshness', /^live/)
    await queue.add('c')
    await visit.reads('.tile-ready', /ready \? 4/)
    await visit.end()
    await other.end()
  })

  it('says how old is what it shows, and not when anything was read last', async () => {
    const { visit } = await visitOrders(stage, 1, ordersPage)
    const { page } = visit
    await visit.until(() => visit.count('.key-grid tbody .row'), 1)
    await page.keyboard.press('p')
    await visit.reads('.freshness', /^paused/)
    await page.evaluate(() => {
      const { now } = Date
      Date.now = () => now() + 600_000
    })
    await visit.reads('.freshness', /^paused updated 10 min( \d+ s)? ago/)
    await page.locator('.key-grid a').first().click()
    await visit.reads('.freshness', /^paused updated just now/)
    await page.goBack()
    await visit.reads('.freshness', /^paused updated 10 min/)
    await visit.end()
  })

  it('shows the results of its actions while updates are paused', async () => {
    const { visit } = await visitOrders(stage, 1, ordersPage)
    await visit.until(() => visit.count('.key-grid tbody .row'), 1)
    await visit.page.getByRole('button', { name: 'Pause updates' }).click()
    await visit.reads('.freshness', /^paused/)
    await visit.page.getByRole('button', { name: 'Add key' }).click()
    await visit.page.getByLabel('Key', { exact: true }).fill('fresh')
    await visit.page.getByLabel('Item, as JSON').fill('1')
    await visit.page.getByRole('button', { name: 'Add 1 key' }).click()
    await visit.until(() => visit.count('[data-row=fresh]'), 1)
    await visit.end()
  })

  it('does not keep what was so for a moment after an action', async () => {
    const { visit } = await visitOrders(stage, 1, ordersPage)
    const { page } = visit
    await visit.reads('.tile-ready', /ready \? 1/)
    // Of a moment that the stream does not see: the key ran, say, and is back before its next read.
    await page.route('**/api/queue?*', async (route) => {
      const response = await route.fetch()
      const view = await response.json()
      await route.fulfill({ response, json: { ...view, counts: { ...view.counts, ready: 7 } } })
    })
    const tile = page.locator('.tile-ready')
    const shown = tile.filter({ hasText: '7' }).waitFor()
    await page.getByRole('button', { name: 'Add key' }).click()
    await page.getByLabel('Key', { exact: true }).fill('key/000')
    await page.getByRole('button', { name: 'Add 1 key' }).click()
    await shown
    await page.unroute('**/api/queue?*')
    await visit.reads('.tile-ready', /ready \? 1/)
    await visit.end()
  })

  it('closes the stream while it is hidden, and catches up when it is visible', async () => {
    const { queue, visit } = await visitOrders(stage, 1, overview)
    const { page } = visit
    await visit.reads('.overview .row', /online\. 1 /)
    // A headless browser never hides a page on its own.
    const show = (state: 'hidden' | 'visible') =>
      page.evaluate((wanted) => {
        Object.defineProperty(document, 'visibilityState', { configurable: true, value: wanted })
        document.dispatchEvent(new Event('visibilitychange'))
      }, state)
    const isStream = (request: { url(): string }) => request.url().includes('api/stream')
    const closed = page.waitForEvent('requestfailed', isStream)
    await show('hidden')
    await closed
    await queue.addMany(['a', 'b'])
    const opened = page.waitForRequest(isStream)
    await show('visible')
    await opened
    await visit.reads('.overview .row', /online\. 3 /)
    await visit.end()
  })

  it('says that the server is unreachable, and recovers automatically', async () => {
    const { queue, served, visit } = await visitOrders(stage, 1, overview)
    visit.expected.push(/ERR_|Failed to load/)
    await visit.reads('.freshness', /^live/)
    await served.stop()
    await visit.reads('.trouble', /Connection lost \d+(\.\d)? (ms|s) ago: .*does not answer/)
    await visit.reads('.freshness', /^no connection/)
    await visit.reads('.overview .row', /online\. 1 /)
    await queue.add('while it was away')
    await served.start()
    await visit.until(() => visit.count('.trouble'), 0)
    await visit.reads('.overview .row', /online\. 2 /)
    await visit.reads('.freshness', /^live/)
    await visit.end()
  })

  it('recovers when a proxy has answered in place of the server', async () => {
    const { queue, served, visit } = await visitOrders(stage, 1, overview)
    visit.expected.push(/404|ERR_|Failed to load/)
    const { page } = visit
    await visit.reads('.freshness', /^live/)
    const other = (route: Route) => route.fulfill({ status: 404, body: '404 page not found' })
    await page.route('**/api/**', other)
    await served.stop()
    await visit.reads('.trouble', /^Connection lost .* the server answered 404\. Showing old data/)
    await visit.reads('.overview .row', /online\. 1 /)
    await queue.add('while it was away')
    await served.start()
    await page.unroute('**/api/**', other)
    await visit.reads('.overview .row', /online\. 2 /)
    await visit.until(() => visit.count('.trouble'), 0)
    await visit.end()
  })

  it('says that no more pages can be live, reads at intervals, and is live once one was closed', async () => {
    const driver = stores.sqlite()
    const queue = stores.queue(driver, 'orders')
    await queue.add('a')
    // At a new address: pages of earlier tests would take its only stream.
    const serving = await serveDashboard({ driver, auth: { token }, tickMs: 100, streamsMax: 1 })
    stores.closing(() => serving.close())
    const { url, signInUrl = url, close: stop } = serving
    const served = { url, signInUrl, stop, start: stop }
    const first = await Visit.begin(stage.browser, served, ordersPage)
    // Another place of the same page may come before the server has noticed that the last was left.
    first.expected.push(/503/)
    await first.reads('.freshness', /^live/)
    const second = await Visit.begin(stage.browser, served, ordersPage)
    second.expected.push(/503/)
    await second.reads(
      '.trouble',
      /^No live updates: the limit of 1 open pages is reached .*close one/,
    )
    await queue.add('b')
    await second.reads('.verdict', /2 keys ready/)
    await first.end()
    await second.reads('.freshness', /^live/)
    await second.until(() => second.count('.trouble'), 0)
    await second.end()
  })

  /** A page whose first stream has no events; if it is silent, no session is answered either from then on. */
  async function heldBack({ isSilent = false } = {}) {
    const { queue, served, visit: known } = await visitOrders(stage, 1, overview)
    await known.end()
    const visit = await Visit.stranger(stage.browser, served, '')
    const { page } = visit
    await visit.reads('h1', 'Sign in')
    let isAsked = false
    await page.route('**/api/stream*', () => {
      isAsked = true
    })
    await page.route('**/api/session', (route) =>
      isSilent && isAsked ? route.abort() : route.continue(),
    )
    await page.clock.install()
    await Promise.all([page.waitForRequest(/api.stream/), page.goto(served.signInUrl)])
    return { queue, visit, page, end: () => page.unroute('**/api/stream*') }
  }

  it('reads at intervals where a proxy holds the events back', async () => {
    const { queue, visit, page, end } = await heldBack()
    await page.clock.runFor(21_000)
    await visit.reads('.overview .row', /online\. 1 /)
    await visit.reads('.trouble', /^No live updates: no event arrives, perhaps since a proxy/)
    await queue.add('b')
    await page.clock.runFor(10_000)
    await visit.reads('.overview .row', /online\. 2 /)
    await visit.go(ordersPage)
    await visit.reads('.tile-ready', /ready \? 2/)
    await end()
    await page.clock.runFor(310_000)
    await visit.reads('.freshness', /^live/)
    await visit.until(() => visit.count('.trouble'), 0)
    await visit.end()
  })

  it('opens a stream again at once after the server was silent altogether', async () => {
    const { queue, visit, page, end } = await heldBack({ isSilent: true })
    visit.expected.push(/ERR_|Failed to load/)
    await page.clock.runFor(21_000)
    await visit.reads('.trouble', /^Connection lost /)
    const again = page.waitForRequest(/api.session/)
    await page.clock.runFor(30_000)
    await again
    // Since it was lost, and not since the last try; beyond what was run, the time of the page is real.
    await visit.reads('.trouble', /^Connection lost ([3-9]\d(\.\d)? s|\d+ min( \d+ s)?) ago/)
    await queue.add('b')
    await end()
    await page.unroute('**/api/session')
    await page.clock.runFor(10_000)
    await visit.reads('.freshness', /^live/)
    await visit.reads('.overview .row', /online\. 2 /)
    await visit.end()
  })

  it('says that the store is away, and why, and recovers', async () => {
    const postgres = await startPostgres()
    stores.closing(() => postgres.dispose())
    const driver = stores.postgres(postgres)
    const queue = stores.queue(driver, 'orders')
    await queue.add('a')
    const served = await serve({ driver })
    stores.closing(() => served.stop())
    const visit = await Visit.begin(stage.browser, served, ordersPage)
    visit.expected.push(/Failed to load/)
    await visit.until(() => visit.count('.key-grid tbody .row'), 1)
    await postgres.stop()
    await visit.reads('.trouble', /Store unreachable \d+(\.\d)? (ms|s) ago: \S+/)
    await postgres.start()
    await visit.until(() => visit.count('.trouble'), 0)
    await queue.add('b')
    await visit.until(() => visit.count('.key-grid tbody .row'), 2)
    await visit.end()
  })
})
