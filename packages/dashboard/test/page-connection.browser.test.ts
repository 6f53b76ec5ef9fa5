import type { Page } from 'playwright-core'
import { memoryDriver, SluiceError } from 'sluice'
import { afterEach, describe, expect, it } from 'vitest'
import { hasChromium } from './browser/chromium.ts'
import { serve } from './browser/served.ts'
import { startBrowser } from './browser/stage.ts'
import { ordersPage, overview, Visit } from './browser/visit.ts'

describe.skipIf(!hasChromium)('the connection of the page', { timeout: 240_000 }, () => {
  const stage = startBrowser()
  const { stores } = stage

  afterEach(() => stores.closeAll())

  async function setUp(tickMs: number) {
    const driver = stores.sqlite()
    const queue = stores.queue(driver, 'orders')
    await queue.add('a')
    const served = await serve({ driver, tickMs })
    stores.closing(() => served.stop())
    const visit = await Visit.begin(stage.browser, served, ordersPage, {})
    await visit.reads('.freshness', /^live/)
    return { queue, served, visit, page: visit.page }
  }

  it('is not retried while updates are paused, and works once anything was read', async () => {
    const { visit, page } = await setUp(100)
    visit.expected.push(/ERR_FAILED|503/)
    await page.keyboard.press('p')
    await visit.reads('.freshness', /^paused/)
    await page.route('**/api/key?*', (route) => route.abort())
    await page.locator('[data-row=a] a').click()
    await visit.reads('.trouble', /^Connection lost .*\. Updates are paused\.$/)
    await visit.reads('.freshness', /^paused/)
    await page.unroute('**/api/key?*')
    const away = { status: 503, json: { code: 'ERR_STORE', message: 'it is away' } }
    await page.route('**/api/key?*', (route) => route.fulfill(away))
    await page.goBack()
    await page.locator('[data-row=a] a').click()
    await visit.reads('.trouble', /^Store unreachable .*: it is away\. Updates are paused\.$/)
    await page.unroute('**/api/key?*')
    await page.goBack()
    await page.locator('[data-row=a] a').click()
    await visit.reads('.key-state', 'ready')
    await visit.until(() => visit.count('.trouble'), 0)
    await visit.reads('.freshness', /^paused/)
    await visit.end()
  })

  it('is not said to be lost by a read of what is shown no longer', async () => {
    const { visit, page } = await setUp(100)
    visit.expected.push(/503/)
    const answer = Promise.withResolvers<void>()
    await page.keyboard.press('p')
    await page.route('**/api/key?*', async (route) => {
      await answer.promise
      await route.fulfill({ status: 503, json: { code: 'ERR_STORE', message: 'it is away' } })
    })
    const isKey = /api.key\?/
    const asked = page.waitForRequest(isKey)
    await page.locator('[data-row=a] a').click()
    await asked
    await page.goBack()
    await page.locator('[data-row=a]').waitFor()
    const answered = page.waitForResponse(isKey)
    answer.resolve()
    await (await answered).finished()
    await page.unroute('**/api/key?*')
    await page.locator('[data-row=a] a').click()
    await visit.reads('.key-state', 'ready')
    // Said last if it was said to be lost before.
    expect(await page.locator('[aria-live=polite]').textContent()).toBe('Updates are paused.')
    await visit.end()
  })

  it('to a store that answers and is damaged: no outage, and what is wrong', async () => {
    const { served, visit, page } = await setUp(100)
    visit.expected.push(/503|ERR_|Failed to load/)
    const damaged = { code: 'ERR_STORE_DAMAGED', message: 'a part of the queue orders is missing' }
    const data = JSON.stringify({ ...damaged, at: Date.now(), sinceMs: 0 })
    const body = `event: trouble\ndata: ${data}\n\n`
    await page.route(/api.stream/, (route) =>
      route.fulfill({ contentType: 'text/event-stream', body }),
    )
    await page.route(/api.queue/, (route) => route.fulfill({ status: 503, json: damaged }))
    await page.reload()
    await visit.reads(
      '.trouble',
      /^Reading failed .* ago: a part of the queue orders is missing\. Retrying…$/,
    )
    await visit.reads('.freshness', /^no data/)
    await served.stop()
    await visit.end()
  })

  it('to a store of which one queue is damaged: it is named, and can be purged', async () => {
    const driver = memoryDriver()
    const { counts, operate } = driver
    let damaged = ['mails']
    driver.counts = async (queue, options) => {
      if (damaged.includes(queue)) throw new SluiceError('ERR_STORE_DAMAGED', 'it lacks a part')
      return await counts.call(driver, queue, options)
    }
    Object.defineProperty(driver, 'operate', {
      value: new Proxy(operate ?? {}, {
        get: (all, name) => {
          if (name === 'purge') damaged = []
          const verb: unknown = Reflect.get(all, name, all)
          return typeof verb === 'function' ? (verb.bind(all) as unknown) : verb
        },
      }),
    })
    for (const name of ['orders', 'mails']) await stores.queue(driver, name).add('a')
    const served = await serve({ driver })
    stores.closing(() => served.stop())
    const visit = await Visit.begin(stage.browser, served, overview, {})
    const { page } = visit
    visit.expected.push(/503/)
    await visit.reads('main [role=alert]', /^The queue mails could not be read: it lacks a part/)
    await visit.reads('.overview', /orders/)
    await visit.reads('.totals', /^1 of 2 queues 2 need attention/)
    await page.getByRole('link', { name: 'mails' }).click()
    await visit.reads('.trouble', /^Reading failed .* ago: it lacks a part/)
    await visit.reads('main', /^mails cannot be read it lacks a part/)
    // Of another queue, it is not said meanwhile.
    await page.route(/api.(stream|queue)\?.*orders/, () => undefined)
    await page.evaluate(() => location.assign('#/queue?queue=orders'))
    await visit.reads('main', /^Loading the queue/)
    expect(await visit.count('.trouble')).toBe(0)
    await page.unroute(/api.(stream|queue)\?.*orders/)
    await page.goBack()
    await page.getByRole('button', { name: 'Purge' }).click()
    await page.locator('dialog input').fill('mails')
    await page.getByRole('button', { name: 'Purge every key' }).click()
    await visit.reads('.notice', /purged: 1 key deleted/)
    await visit.until(() => visit.count('.trouble, dialog'), 0)
    // Also where no other one can be read.
    damaged = ['mails', 'orders']
    await stores.queue(driver, 'mails').add('a')
    await page.evaluate(() => location.assign('#/'))
    await visit.reads(
      'main',
      /^All queues 0 of 2 queues 2 need attention .*The queue mails could not/s,
    )
    await visit.end()
  })

  it('that has brought nothing yet shows no old data', async () => {
    const { visit, page } = await setUp(100)
    visit.expected.push(/ERR_FAILED/)
    const reads = /\/api\/(stream|queue)\?/
    await page.route(reads, (route) => route.abort())
    await page.reload()
    await visit.reads('.trouble', /^Connection lost .*\. Retrying…$/)
    await page.unroute(reads)
    await visit.reads('.freshness', /^live/)
    await visit.until(() => visit.count('.trouble'), 0)
    await visit.end()
  })

  it('to a server that was updated: the page says that it is another version', async () => {
    const { served, visit, page } = await setUp(100)
    visit.expected.push(/ERR_|Failed to load/)
    const isIndex = ({ pathname }: URL): boolean => pathname === '/'
    // Read now: a request that meets the stop of the server would fail outside of the test.
    const index = await (await fetch(served.url)).text()
    const body = index.replace(/assets.[^"]+\.js/, 'assets/newer.js')
    await page.route(isIndex, (route) => route.fulfill({ contentType: 'text/html', body }))
    await served.stop()
    await served.start()
    await visit.reads('.trouble', 'The server has another version of this page.')
    await visit.reads('.freshness', /^live/)
    await page.unroute(isIndex)
    await page.getByRole('button', { name: 'Reload the page' }).press('Enter')
    await visit.until(() => visit.count('.trouble'), 0)
    await visit.reads('h1', 'orders')
    await visit.end()
  })

  it('to a server that does not have the script of the page: it says to reload it', async () => {
    const { visit, page } = await setUp(100)
    visit.expected.push(/404/)
    const missing = { status: 404, json: { code: 'ERR_NOT_FOUND', message: 'no such file' } }
    await page.route('**/assets/*', (route) => route.fulfill(missing))
    await page.reload()
    await visit.reads('body', /^Loading the page\. If it does not appear, reload it\.$/)
    await page.unroute('**/assets/*')
    await page.reload()
    await visit.reads('.freshness', /^live/)
    expect(await page.locator('#app').textContent()).not.toContain('Loading the page')
    await visit.end()
  })

  it('that brings what cannot be shown: the page says that it failed', async () => {
    const { visit, page } = await setUp(100)
    visit.expected.push(/Cannot read properties/)
    await page.route(/api.stream/, (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: 'event: snapshot\ndata: {"at":0,"queues":[{}]}\n\n',
      }),
    )
    await page.locator('.top-bar a').first().click()
    await visit.reads('.trouble', /This page failed: .* Reload the page$/)
    await page.unroute(/api.stream/)
    await page.getByRole('button', { name: 'Reload the page' }).press('Enter')
    await visit.reads('.overview .row', /online\. 1 /)
    await visit.until(() => visit.count('.trouble'), 0)
    await visit.end()
  })

  it('is made again after the computer has slept', async () => {
    const { visit, page } = await setUp(60_000)
    const opened = page.waitForRequest(/api.stream/)
    await page.evaluate(() => {
      const { now } = Date
      Date.now = () => now() + 3_600_000
    })
    await opened
    await visit.reads('.freshness', /^live/)
    await visit.end()
  })

  it('is shared by more visible windows than a browser opens connections', async () => {
    const { queue, visit, page } = await setUp(100)
    const opened = Array.from({ length: 7 }, () => visit.context.newPage())
    const windows = [page, ...(await Promise.all(opened))]
    await Promise.all(windows.map((each) => each.goto(page.url())))
    await queue.add('b')
    for (const each of windows) await visit.until(() => each.locator('[data-row=b]').count(), 1)
    const isLive = async (each: Page) =>
      (await each.locator('.freshness').textContent())?.startsWith('live')
    const states = () => Promise.all(windows.map(isLive))
    const live = async () => (await states()).filter(Boolean).length
    await visit.until(live, 4)
    const left = windows[(await states()).indexOf(true)] ?? page
    // A headless browser never hides a page on its own.
    const show = (state: 'hidden' | 'visible') =>
      left.evaluate((wanted) => {
        Object.defineProperty(document, 'visibilityState', { configurable: true, value: wanted })
        document.dispatchEvent(new Event('visibilitychange'))
      }, state)
    await show('hidden')
    // It still says so, and another has its turn.
    await visit.until(live, 5)
    await show('visible')
    await left.locator('.trouble', { hasText: 'other windows of this browser' }).waitFor()
    await visit.until(live, 4)
    await visit.end()
  })

  it('is given up if a request stays without an answer', async () => {
    const { queue, visit, page } = await setUp(100)
    await page.clock.install()
    await page.evaluate(() => {
      AbortSignal.timeout = (ms) => {
        const controller = new AbortController()
        // real time: no, that of the clock above, which does not know this method.
        setTimeout(() => controller.abort(), ms)
        return controller.signal
      }
    })
    const asked = page.waitForRequest(/api.keys/)
    await page.route(/api.keys/, () => undefined, { times: 1 })
    await page.clock.runFor(3_000)
    await asked
    await queue.add('b')
    await page.clock.runFor(70_000)
    await visit.until(() => visit.count('[data-row=b]'), 1)
    await visit.end()
  })
})
