import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from './browser/chromium.ts'
import { type Served, serve } from './browser/served.ts'
import { SharedVisit } from './browser/shared-visit.ts'
import { startStage } from './browser/stage.ts'
import { coded, failOnce, Stores } from './browser/stores.ts'
import { ordersPage, overview, Visit } from './browser/visit.ts'

describe.skipIf(!hasChromium)('the screens', { timeout: 240_000 }, () => {
  const { stage, kinds } = startStage()
  const { stores } = stage

  describe.each(kinds)('over %s', (_, make) => {
    const lasting = new Stores()
    let lively: Served
    const desk = new SharedVisit(() => Visit.begin(stage.browser, lively))

    beforeAll(async () => {
      const driver = make()
      const orders = lasting.queue(driver, 'orders')
      await failOnce(orders, 'fails', coded('ECONNREFUSED', 'nobody listens'))
      await orders.addMany(['one', 'two', { three: 3 }])
      await orders.addAfter('later', 3_600_000)
      await orders.add('aside')
      await orders.inspect.park('aside')
      const mails = lasting.queue(driver, 'mails')
      await failOnce(mails, 'bounced', coded('EMAIL', 'no such address'))
      await mails.add('a')
      await lasting.busyWorker(driver, 'mails')
      lively = await serve({ driver, storeName: 'the store of the test' })
      lasting.closing(() => lively.stop())
    })
    afterAll(async () => {
      await desk.end()
      await lasting.dispose()
    })

    it(
      'show every queue in a row, the one that needs attention first',
      desk.on(async (visit) => {
        await visit.until(() => visit.count('.overview .row'), 2)
        await visit.reads('.overview .row:nth-child(1)', /orders.*no workers/s)
        await visit.reads('.overview .row:nth-child(2)', /mails.*ok.*1\/2/s)
        await visit.reads(
          '.overview .row:nth-child(1)',
          /^orders no workers 3 keys ready, and no worker is online\. 3 1 1 0\/0 1 /,
        )
        await visit.reads('.store', 'the store of the test')
        await visit.reads('.freshness', /^live updated just now/)
        await visit.reads('.totals', /2 queues 1 needs attention ready 3/)
      }),
    )

    it(
      'show a queue: counts, what fails, limiter, leases, keys',
      desk.on(async (visit) => {
        await visit.page.click('.overview [data-row=orders]')
        await visit.reads('h1', 'orders')
        await visit.reads('.tile-ready', /ready \? 3 ready oldest/)
        await visit.reads('.tile-delayed', /delayed \? 1 delayed next in (5\d m|1 h)/)
        await visit.reads('.failures', /ECONNREFUSED.*1 key failing now.*nobody listens/s)
        await visit.until(() => visit.count('.key-grid tbody .row'), 6)
        await visit.reads('.key-grid [data-row=fails]', /backoff.*in (5\d m|1 h).*1.*ECONNREFUSED/s)
        await visit.reads('.key-grid [data-row=aside]', 'parked')
        await visit.reads('.pages', '6 shown, all keys')
        await visit.go({ at: 'queue', queue: 'mails', keys: {}, cursors: [] })
        await visit.reads('section[aria-label=Workers] tbody', /:\d+.*1\/2/s)
        await visit.reads('section[aria-label=Leases] tbody', /^a processing \d+ (s|min)/)
        await visit.reads('.limiter', /1 h doubled/)
        await visit.reads('.buckets', /mails-bucket \d+ of 100 tokens/)
      }),
    )

    it(
      'show failures by code, of every queue and of one, with the keys that failed so',
      desk.on(async (visit) => {
        await visit.page.keyboard.press('f')
        await visit.reads('h1', 'Failures')
        await visit.until(() => visit.count('.failure-row'), 2)
        await visit.reads('.failure-rows', /ECONNREFUSED orders nobody listens/)
        await visit.reads('.failure-rows', /EMAIL mails no such address/)
        await visit.page.click('.failure-row:has-text("EMAIL") .failure-code')
        expect(visit.page.url()).toMatch(/#\/failures\?code=EMAIL&codeOf=mails$/)
        await visit.page.click('.failure-row:has-text("EMAIL") .failure-code')
        await visit.page.click('.failure-row:has-text("EMAIL") .failure-queue')
        await visit.reads('.crumbs', /mails.*Failures/)
        await visit.until(() => visit.count('.failure-row'), 1)
        await visit.page.click('.failure-code')
        await visit.reads('.failed-runs', /bounced no such address failure 1/)
        expect(visit.page.url()).toMatch(/#\/failures\?queue=mails&code=EMAIL$/)
        await visit.page.click('text=Show the keys that failed so last')
        await visit.until(() => visit.count('.key-grid tbody .row'), 1)
        await visit.reads('.key-grid', /bounced/)
      }),
    )

    it(
      'show a key: why it does not run, where it is, when it is tried again',
      desk.on(async (visit) => {
        await visit.go({ at: 'key', queue: 'orders', key: 'fails' })
        await visit.reads('.key-title', /fails.*backoff/s)
        await visit.reads('.condition.blocking', /Back-off elapsed.*BACKOFF_ITEM/s)
        await visit.reads('.ok-true', /Queue not paused/)
        await visit.reads('.next-fact', /ready in (5\d m|1 h)/)
        expect(await visit.page.locator('.station.here').getAttribute('class')).toContain(
          'station-backoff',
        )
        expect(await visit.page.locator('.machine').getAttribute('aria-label')).toContain(
          'processing to backoff',
        )
        await visit.reads('.retry', /Next retry .* at (\d{4}-\d\d-\d\d )?\d\d:\d\d:/)
        await visit.reads('.errors', /ECONNREFUSED.*nobody listens/s)
        expect(await visit.page.locator('.errors pre').isVisible()).toBe(false)
        await visit.page.click('.errors summary')
        await visit.reads('.errors pre', /at .*stores\.ts/)
      }),
    )

    it('show how a delay was computed, if a worker has reported its limiter', async () => {
      const driver = make()
      stores.worker(driver, 'orders', () => Promise.reject(coded('E_NO', 'no')))
      await stores.queue(driver, 'orders').add('fails')
      const served = await serve({ driver })
      stores.closing(() => served.stop())
      const visit = await Visit.begin(stage.browser, served, {
        at: 'key',
        queue: 'orders',
        key: 'fails',
      })
      await visit.reads('.key-state', 'backoff')
      await visit.reads('.retry', /by its failures 1 h wins/)
      await visit.end()
    })

    it(
      'show an item only on demand, and copy a key',
      desk.on(async (visit) => {
        const key = 'json:{"three":3}'
        await visit.go({ at: 'key', queue: 'orders', key })
        await visit.reads('.json', /"state": "ready"/)
        const item = visit.page.locator('.json-name', { hasText: /^"item"$/ })
        expect(await item.count()).toBe(0)
        await visit.page.click('text=show the item')
        await visit.reads('.json', /"item": \{ "three": 3 \}/)
        await visit.page.click('text=hide the item')
        await visit.until(() => item.count(), 0)
        await visit.page.getByRole('button', { name: 'Copy the key' }).click()
        await visit.until(() => visit.page.evaluate(() => navigator.clipboard.readText()), key)
      }),
    )

    it('follow the store automatically', async () => {
      const driver = make()
      const queue = stores.queue(driver, 'orders')
      await queue.add('first')
      const served = await serve({ driver })
      stores.closing(() => served.stop())
      const visit = await Visit.begin(stage.browser, served)
      await visit.reads('.overview .row', /online\. 1 /)
      await queue.addMany(['a', 'b', 'c'])
      await visit.reads('.overview .row', /online\. 4 /)
      await stores.queue(driver, 'new one').add('x')
      await visit.until(() => visit.count('.overview .row'), 2)
      await visit.go(ordersPage)
      await visit.until(() => visit.count('.key-grid tbody .row'), 4)
      await queue.inspect.remove('b')
      await visit.until(() => visit.count('.key-grid tbody .row'), 3)
      await visit.go({ at: 'key', queue: 'orders', key: 'first' })
      await visit.reads('.key-state', 'ready')
      const held = await queue.get()
      expect(held?.key).toBe('first')
      await visit.reads('.key-state', 'processing')
      await queue.add('first')
      await visit.reads('.key-state', 'dirty')
      await held?.done()
      await visit.reads('.key-state', 'ready')
      await visit.reads('.steps', /^ready .* dirty .* processing/)
      await visit.until(() => visit.count('.way.taken text:text-is("added again")'), 1)
      await visit.end()
    })
  })

  it('teach how to get a first key in, and show it when it came', async () => {
    const driver = stores.sqlite()
    const served = await serve({ driver })
    stores.closing(() => served.stop())
    const visit = await Visit.begin(stage.browser, served)
    await visit.reads('.empty', /No queue yet.*sqliteDriver\(\{ file: 'queue\.db' \}\)/s)
    await visit.page.getByLabel('Or open a queue by name').fill('some/queue')
    await visit.page.getByRole('button', { name: 'Open' }).click()
    await visit.reads('h1', 'some/queue')
    await stores.queue(driver, 'orders').add('order/42')
    await visit.go(overview)
    await visit.reads('.overview .row', /orders/)
    await visit.go({ at: 'queue', queue: 'nothing here', keys: {}, cursors: [] })
    await visit.reads('.empty', /No queue is called nothing here/)
    await visit.go({ at: 'queue', queue: 'order', keys: {}, cursors: [] })
    await visit.reads('.empty', /Did you mean orders\?/)
    await visit.go({ at: 'queue', queue: 'orders', keys: { prefix: 'zzz' }, cursors: [] })
    await visit.reads('.keys', /No keys match/)
    await visit.page.click('text=Show all keys')
    await visit.until(() => visit.count('.key-grid tbody .row'), 1)
    await visit.go({ at: 'key', queue: 'orders', key: 'never heard of' })
    await visit.reads('.key-state', 'absent')
    await visit.reads('.condition.blocking', /NOT_FOUND/)
    expect(await visit.count('.station.here')).toBe(0)
    await visit.reads('.key-head .buttons', /^Add$/)
    await visit.end()
  })

  it('teach it with the driver of the store', async () => {
    // Only its name is of interest, and not where it keeps keys.
    const driver = Object.assign(stores.sqlite(), { name: 'redis' })
    const served = await serve({ driver })
    stores.closing(() => served.stop())
    const visit = await Visit.begin(stage.browser, served)
    await visit.reads('.empty', /from '@sluice\/redis'.*redisDriver\(\{ url \}\)/s)
    await visit.end()
  })

  it('say what each state word means', async () => {
    const driver = stores.sqlite()
    await stores.queue(driver, 'orders').add('a')
    const served = await serve({ driver })
    stores.closing(() => served.stop())
    const visit = await Visit.begin(stage.browser, served, ordersPage)
    for (const word of ['ready', 'delayed', 'backoff', 'processing', 'dirty', 'parked', 'idle']) {
      await visit.page.getByRole('button', { name: `What does ${word} mean?` }).click()
      await visit.reads('.meaning', new RegExp(`^${word} .{30,}\\.$`))
      await visit.page.keyboard.press('Escape')
      await visit.until(() => visit.page.locator('.meaning').isVisible(), false)
    }
    await visit.end()
  })

  it('say why something cannot be shown', async () => {
    const served = await serve({ driver: stores.sqlite() })
    stores.closing(() => served.stop())
    const visit = await Visit.begin(stage.browser, served, {
      at: 'queue',
      queue: 'x'.repeat(200),
      keys: {},
      cursors: [],
    })
    visit.expected.push(/400/)
    await visit.reads('.empty', /Not available .*128 bytes/)
    await visit.page.getByRole('link', { name: 'All queues', exact: true }).click()
    await visit.reads('.empty', /No queue yet/)
    await visit.page.keyboard.press('p')
    await visit.page.goBack()
    await visit.reads('.empty', /Not available .*128 bytes/)
    await visit.page.goForward()
    await visit.reads('.empty', /No queue yet/)
    await visit.end()
  })

  it('narrow keys by state, beginning, failures and error, and turn pages', async () => {
    const driver = stores.sqlite()
    const queue = stores.queue(driver, 'orders')
    await failOnce(queue, 'bad/1', coded('E_ONE', 'one'))
    await failOnce(queue, 'bad/2', coded('E_TWO', 'two'))
    await queue.addMany(
      Array.from({ length: 230 }, (_, at) => `key/${String(at).padStart(3, '0')}`),
    )
    const served = await serve({ driver })
    stores.closing(() => served.stop())
    const visit = await Visit.begin(stage.browser, served, ordersPage)
    const rows = () => visit.count('.key-grid tbody .row')
    await visit.until(rows, 100)
    await visit.page.getByRole('button', { name: 'Next page' }).click()
    await visit.reads('.key-grid tbody .row:nth-child(1)', 'key/098')
    await visit.page.getByRole('button', { name: 'Next page' }).click()
    await visit.until(rows, 32)
    expect(new URL(visit.page.url()).hash.match(/cursor=/g)).toHaveLength(2)
    await visit.page.reload()
    await visit.until(rows, 32)
    await visit.page.goBack()
    await visit.until(rows, 100)
    await visit.page.getByLabel('Keys that start with').fill('key/01')
    await visit.until(rows, 10)
    await visit.page.getByLabel('Keys that start with').fill('')
    await visit.page.getByLabel('State').selectOption('backoff')
    await visit.until(rows, 2)
    await visit.page.getByLabel('Error code').fill('E_TWO')
    await visit.reads('.key-grid tbody', /^bad\/2/)
    await visit.until(rows, 1)
    expect(new URL(visit.page.url()).hash).toContain('state=backoff&errorCode=E_TWO')
    await visit.page.getByRole('button', { name: 'Clear' }).click()
    await visit.page.getByLabel('Failures ≥').fill('1')
    await visit.until(rows, 2)
    await visit.end()
  })
})
