import { memoryDriver } from 'sluice'
import { afterEach, describe, expect, it } from 'vitest'
import { hasChromium } from './browser/chromium.ts'
import { proxyTo } from './browser/proxy.ts'
import { serve, token } from './browser/served.ts'
import { startBrowser } from './browser/stage.ts'
import { ordersPage, overview, Visit } from './browser/visit.ts'
import { visitOrders } from './browser/visit-orders.ts'

describe.skipIf(!hasChromium)('signing in on the page', { timeout: 240_000 }, () => {
  const stage = startBrowser()
  const { stores } = stage

  afterEach(() => stores.closeAll())

  it('asks a visitor to sign in, and then shows the requested location', async () => {
    const { served, visit: known } = await visitOrders(stage, 1, overview)
    await known.end()
    const visit = await Visit.stranger(stage.browser, served, '#/queue?queue=orders&prefix=key')
    visit.expected.push(/401|403/)
    await visit.reads('h1', 'Sign in')
    await visit.page.getByLabel('Token').fill('not the token of this')
    await visit.page.getByRole('button', { name: 'Sign in' }).click()
    await visit.reads('.sign-in .refusal', /\S{3,}/)
    await visit.page.getByLabel('Token').fill(token)
    await visit.page.keyboard.press('Enter')
    await visit.until(() => visit.count('.key-grid tbody .row'), 1)
    expect(new URL(visit.page.url()).hash).toBe('#/queue?queue=orders&prefix=key')
    await visit.end()
  })

  it('signs in and acts behind a proxy that serves it under another path', async () => {
    const driver = memoryDriver()
    await stores.queue(driver, 'orders').add('a')
    const served = await serve({ driver, basePath: '/queues' })
    stores.closing(() => served.stop())
    const proxied = await proxyTo(new URL('/queues', served.url), '/tools/jobs')
    stores.closing(() => proxied.stop())
    const visit = await Visit.stranger(
      stage.browser,
      { ...served, url: proxied.url },
      '#/queue?queue=orders',
    )
    visit.expected.push(/401/)
    await visit.page.getByLabel('Token').fill(token)
    await visit.page.keyboard.press('Enter')
    await visit.until(() => visit.count('.key-grid tbody .row'), 1)
    await visit.page.locator('main').getByRole('button', { name: 'Pause' }).click()
    await visit.page.locator('dialog').getByRole('button', { name: 'Pause' }).click()
    await visit.reads('.notice', 'The queue was paused.')
    await visit.page.getByRole('button', { name: 'Sign out' }).click()
    await visit.reads('h1', 'Sign in')
    await visit.end()
  })

  it('says why it cannot begin, and begins once it can', async () => {
    const { served, visit: known } = await visitOrders(stage, 1, overview)
    await known.end()
    const visit = await Visit.stranger(stage.browser, served, '')
    visit.expected.push(/ERR_FAILED|401/)
    await visit.reads('h1', 'Sign in')
    await visit.page.route('**/api/session', (route) => route.abort())
    await visit.page.reload()
    await visit.reads('main', /^the dashboard’s server does not answer; retrying…$/)
    await visit.page.unroute('**/api/session')
    await visit.reads('h1', 'Sign in')
    await visit.end()
  })

  it('takes the token out of the address before it asks anything', async () => {
    const { served, visit } = await visitOrders(stage, 1, overview)
    expect(visit.page.url()).not.toContain('sign-in')
    await visit.page.goBack()
    expect(visit.page.url()).not.toContain(encodeURIComponent(token))
    await visit.page.goto(served.url)
    await visit.until(() => visit.count('.overview .row'), 1)
    await visit.end()
  })

  it('says why a link does not sign in', async () => {
    const { served, visit } = await visitOrders(stage, 1, overview)
    visit.expected.push(/401/)
    await visit.page.goto(`${served.url}#sign-in=not-this-one`)
    await visit.reads('.notice.failed', 'The link did not sign you in: wrong token')
    expect(visit.page.url()).not.toContain('not-this-one')
    await visit.until(() => visit.count('.overview .row'), 1)
    await visit.end()
  })

  it('signs out, and returns to the same location after a session has ended', async () => {
    const { visit } = await visitOrders(stage, 1, ordersPage)
    visit.expected.push(/401/)
    await visit.until(() => visit.count('.key-grid tbody .row'), 1)
    // The list, which is read every two seconds, would notice the end before the filter is there.
    await visit.page.getByRole('button', { name: 'Pause updates' }).click()
    await visit.reads('.freshness', /^paused/)
    await visit.context.clearCookies()
    await visit.page.getByLabel('Keys that start with').fill('key/00')
    await visit.reads('h1', 'Sign in')
    await visit.page.getByLabel('Token').fill(token)
    await visit.page.keyboard.press('Enter')
    await visit.until(() => visit.count('.key-grid tbody .row'), 1)
    expect(new URL(visit.page.url()).hash).toBe('#/queue?queue=orders&prefix=key%2F00')
    await visit.page.getByRole('button', { name: 'Sign out' }).click()
    await visit.reads('h1', 'Sign in')
    await visit.end()
  })

  it('acts and signs out after the visitor has signed in once more on another page', async () => {
    const { queue, served, visit } = await visitOrders(stage, 1, ordersPage)
    visit.expected.push(/403|401|ERR_CONNECTION/)
    const { page } = visit
    const other = await visit.context.newPage()
    await other.goto(served.signInUrl)
    await other.locator('.overview .row').waitFor()
    await page.getByRole('button', { name: 'Add key' }).click()
    await page.getByLabel('Key', { exact: true }).fill('fresh')
    await page.getByRole('button', { name: 'Add 1 key' }).click()
    await visit.reads('.notice', 'The key was added.')
    expect((await queue.inspect.counts()).ready).toBe(2)
    await other.goto(served.url)
    await other.goto(served.signInUrl)
    await other.locator('.overview .row').waitFor()
    await served.stop()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await visit.reads('.notice.failed', /^You are still signed in: .*does not answer/)
    await served.start()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await visit.reads('h1', 'Sign in')
    await other.close()
    await visit.end()
  })

  it('sends a visitor whom the application does not know to it, and shows the location afterwards', async () => {
    const driver = memoryDriver()
    await stores.queue(driver, 'orders').add('a')
    let user: string | undefined
    const served = await serve({ driver, auth: { trust: async () => user } })
    stores.closing(() => served.stop())
    const visit = await Visit.stranger(stage.browser, served, '#/queue?queue=orders')
    visit.expected.push(/401/)
    const { page } = visit
    await visit.reads('main', /^Not signed in Sign in to the application .* Try again$/)
    user = 'ada'
    await page.getByRole('button', { name: 'Try again' }).click()
    await visit.until(() => visit.count('.key-grid tbody .row'), 1)
    // Signed out in the application, and in again on another page of the browser.
    user = undefined
    await visit.reads('main', /^Not signed in/)
    user = 'ada'
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await visit.until(() => visit.count('.key-grid tbody .row'), 1)
    await visit.end()
  })
})
