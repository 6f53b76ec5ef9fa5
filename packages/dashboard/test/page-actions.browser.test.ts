import type { Driver, RateLimitingQueue } from 'sluice'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PageLocation } from '../client/src/location/location.ts'
import { hasChromium } from './browser/chromium.ts'
import { type Served, serve, token } from './browser/served.ts'
import { SharedVisit } from './browser/shared-visit.ts'
import { startStage } from './browser/stage.ts'
import { coded, failOnce } from './browser/stores.ts'
import { Visit } from './browser/visit.ts'

const queuePage = (queue: string): PageLocation => ({ at: 'queue', queue, keys: {}, cursors: [] })
const keyPlace =
  (key: string) =>
  (queue: string): PageLocation => ({ at: 'key', queue, key })

const matching =
  (prefix: string) =>
  (queue: string): PageLocation => ({ at: 'queue', queue, keys: { prefix }, cursors: [] })

describe.skipIf(!hasChromium)('acting on the page', { timeout: 240_000 }, () => {
  const { stage, kinds } = startStage()
  const { stores } = stage

  async function begin(driver: Driver, place: PageLocation): Promise<Visit> {
    const served = await serve({ driver })
    stores.closing(() => served.stop())
    return await Visit.begin(stage.browser, served, place)
  }

  const press = (visit: Visit, name: string): Promise<void> =>
    visit.page.locator('main').getByRole('button', { name, exact: true }).click()
  const agree = (visit: Visit, name: string): Promise<void> =>
    visit.page.locator('dialog').getByRole('button', { name, exact: true }).click()
  /** Presses a button that is grey. */
  const agreeInVain = (visit: Visit, name: string): Promise<void> =>
    visit.page.locator('dialog').getByRole('button', { name, exact: true }).click({ force: true })

  describe.each(kinds)('over %s', (_, make) => {
    let driver: Driver
    let served: Served
    let made = 0
    let name: string
    let queue: RateLimitingQueue<unknown>
    const desk = new SharedVisit(() => Visit.begin(stage.browser, served))
    const state = async (key: string) => (await queue.inspect.get(key))?.state

    beforeAll(async () => {
      driver = make()
      served = await serve({ driver })
    })
    afterAll(async () => {
      await desk.end()
      await served.stop()
    })

    /** A test on the page of a queue of its own, or on one of a key there. */
    function at(
      place: (queue: string) => PageLocation,
      test: (visit: Visit) => Promise<void>,
      more: readonly string[] = [],
    ) {
      return desk.on(async (visit) => {
        made += 1
        name = `orders-${made}`
        queue = stores.queue(driver, name)
        await failOnce(queue, 'failed', coded('E_BAD', 'bad'))
        await queue.addAfter('later', 3_600_000)
        await queue.addMany(['ready', ...more])
        await visit.go(place(name))
        await test(visit)
      })
    }

    it(
      'adds a key with item, delay and priority, and says why it does not',
      at(queuePage, async (visit) => {
        await press(visit, 'Add key')
        await visit.page.getByLabel('Key', { exact: true }).fill('fresh')
        await visit.page.getByLabel('Item, as JSON').fill('{"a": [1, 2')
        await agree(visit, 'Add 1 key')
        await visit.reads('dialog .refusal', /not JSON/)
        await visit.page.getByLabel('Item, as JSON').fill('{"id": 12345678901234567891}')
        await agree(visit, 'Add 1 key')
        await visit.reads(
          'dialog .refusal',
          /12345678901234567891 would become 12345678901234567000/,
        )
        await visit.page.getByLabel('Item, as JSON').fill('{"a": [1, 2]}')
        await visit.page.getByLabel('Delay, in seconds').fill('600')
        await visit.page.getByLabel('Priority').fill('7')
        await agree(visit, 'Add 1 key')
        await visit.reads('.notice', 'The key was added.')
        await visit.reads('.key-grid [data-row=fresh]', /delayed in (10 m|9 m).* 7/)
        const info = await queue.inspect.get('fresh')
        expect(info).toMatchObject({ item: { a: [1, 2] }, priority: 7, state: 'delayed' })
      }),
    )

    it(
      'adds a key once, however often the button is pressed before the answer',
      at(queuePage, async (visit) => {
        const { promise: isPressed, resolve: pressed } = Promise.withResolvers<void>()
        let asked = 0
        await visit.page.route('**/api/act', async (route) => {
          asked += 1
          await isPressed
          await route.continue()
        })
        await press(visit, 'Add key')
        await visit.page.getByLabel('Key', { exact: true }).fill('fresh')
        await agree(visit, 'Add 1 key')
        await visit.page.getByLabel('Key', { exact: true }).press('Enter')
        pressed()
        await visit.reads('.notice', 'The key was added.')
        await visit.until(() => visit.count('dialog'), 0)
        await visit.page.unroute('**/api/act')
        expect(asked).toBe(1)
      }),
    )

    it(
      'runs a delayed key now, and adds one again',
      at(keyPlace('later'), async (visit) => {
        await press(visit, 'Run now')
        await visit.reads('.key-state', 'ready')
        expect(await state('later')).toBe('ready')
        const held = await queue.get()
        expect(held?.key).toBe('ready')
        await visit.go(keyPlace('ready')(name))
        await visit.reads('.key-state', 'processing')
        await press(visit, 'Add again')
        await agree(visit, 'Add 1 key')
        await visit.reads('.key-state', 'dirty')
        await held?.release()
      }),
    )

    it(
      'releases the run that its dialog was opened for, and no later one',
      at(keyPlace('ready'), async (visit) => {
        const first = await queue.get()
        await visit.reads('.key-state', 'processing')
        await press(visit, 'Release')
        await first?.release()
        await visit.reads('.key-state', 'ready')
        expect(await visit.count('dialog')).toBe(1)
        const second = await queue.get()
        await visit.reads('.key-state', 'processing')
        await agree(visit, 'Release 1 key')
        await visit.reads('.notice', 'That run has already ended.')
        expect(await state('ready')).toBe('processing')
        await press(visit, 'Release')
        await agree(visit, 'Release 1 key')
        await visit.reads('.key-state', 'ready')
        expect(await second?.done()).toBe('lost')
      }),
    )

    it(
      'forgets failures',
      at(keyPlace('failed'), async (visit) => {
        await visit.reads('.facts', /failures 1/)
        await press(visit, 'Forget failures')
        await visit.reads('.facts', /failures 0/)
        expect((await queue.inspect.get('failed'))?.failures).toBe(0)
      }),
    )

    it(
      'parks a key after asking, and puts it back',
      at(keyPlace('ready'), async (visit) => {
        await press(visit, 'Park')
        await visit.reads('dialog h2', 'Park 1 key?')
        await agree(visit, 'Cancel')
        expect(await state('ready')).toBe('ready')
        await press(visit, 'Park')
        await agree(visit, 'Park 1 key')
        await visit.reads('.key-state', 'parked')
        await press(visit, 'Unpark')
        await visit.reads('.key-state', 'ready')
      }),
    )

    it(
      'removes a key after asking',
      at(keyPlace('failed'), async (visit) => {
        await press(visit, 'Remove')
        await visit.reads('dialog', /Remove 1 key\? .*failed.* failure count \(1\)/)
        await agree(visit, 'Remove 1 key')
        await visit.reads('.key-state', 'absent')
        expect(await state('failed')).toBeUndefined()
      }),
    )

    it(
      'pauses and resumes a queue, and says how many keys will wait',
      at(queuePage, async (visit) => {
        await press(visit, 'Pause')
        await visit.reads('dialog', /Workers stop .* 1 ready key will wait/)
        await agree(visit, 'Pause')
        await visit.reads('.verdict', /paused/)
        expect((await queue.inspect.counts()).paused).toBe(true)
        await press(visit, 'Resume')
        await visit.until(async () => (await queue.inspect.counts()).paused, false)
        await visit.until(
          () => visit.page.getByRole('button', { name: 'Pause', exact: true }).count(),
          1,
        )
      }),
    )

    it(
      'empties a queue only when its name was typed',
      at(queuePage, async (visit) => {
        await press(visit, 'Purge')
        await visit.reads('dialog', new RegExp(`Purge ${name}\\? .* 3 keys`))
        await agreeInVain(visit, 'Purge 3 keys')
        await visit.page.locator('dialog input').fill('order')
        await agreeInVain(visit, 'Purge 3 keys')
        expect((await queue.inspect.counts()).ready).toBe(1)
        await visit.page.locator('dialog input').fill(name)
        await agree(visit, 'Purge 3 keys')
        await visit.reads('.notice', /purged: 3 keys deleted/)
        await visit.until(() => visit.count('.key-grid tbody .row'), 0)
      }),
    )

    it(
      'does something to the keys that were ticked',
      at(
        queuePage,
        async (visit) => {
          await visit.until(() => visit.count('.key-grid tbody .row'), 7)
          const tick = (key: string) => visit.page.getByLabel(`Select ${key}`, { exact: true })
          const every = visit.page.getByLabel('Select every key that is shown')
          await every.click()
          await visit.reads('.bulk-what', /^7 selected/)
          await tick('k2').click()
          await visit.reads('.bulk-what', /^6 selected/)
          expect(await every.isChecked()).toBe(false)
          await every.click()
          await visit.reads('.bulk-what', /^7 selected/)
          await every.click()
          await visit.until(() => visit.count('.bulk'), 0)
          await tick('k1').click()
          await tick('k3').click({ modifiers: ['Shift'] })
          await visit.reads('.bulk-what', /^3 selected/)
          await press(visit, 'Park')
          await visit.reads('dialog h2', 'Park: 3 keys')
          await agree(visit, 'Park 3 keys')
          await visit.reads('.notice', '3 of 3 keys changed.')
          expect(await Promise.all(['k1', 'k2', 'k3', 'k4'].map(state))).toEqual([
            ...['parked', 'parked', 'parked', 'ready'],
          ])
          await visit.until(() => visit.count('.row.selected'), 0)
        },
        ['k1', 'k2', 'k3', 'k4'],
      ),
    )

    it(
      'does something to every key that matches, and says before how many those are',
      at(
        matching('k/'),
        async (visit) => {
          await visit.until(() => visit.count('.key-grid tbody .row'), 100)
          await visit.reads('.bulk-what', 'All that match: starting with “k/”')
          await press(visit, 'Park …')
          await visit.reads('dialog', /130 keys match: starting with “k\/”/)
          await agree(visit, 'Park 130 keys')
          await visit.reads('.notice', /130/)
          expect((await queue.inspect.counts()).parked).toBe(130)
          await press(visit, 'Unpark …')
          await agree(visit, 'Unpark 130 keys')
          await visit.until(async () => (await queue.inspect.counts()).parked, 0)
          await press(visit, 'Remove …')
          await visit.page.locator('dialog input').fill(name)
          await agree(visit, 'Remove 130 keys')
          await visit.until(async () => (await queue.inspect.counts()).ready, 1)
        },
        Array.from({ length: 130 }, (_, index) => `k/${index}`),
      ),
    )
  })

  it('announces an action on every open page', async () => {
    const driver = stores.sqlite()
    await stores.queue(driver, 'orders').add('a')
    const served = await serve({ driver })
    stores.closing(() => served.stop())
    const [one, other] = [
      await Visit.begin(stage.browser, served, queuePage('orders')),
      await Visit.begin(stage.browser, served, queuePage('orders')),
    ]
    const elsewhere = await Visit.begin(stage.browser, served, queuePage('mails'))
    await press(one, 'Pause')
    await agree(one, 'Pause')
    await one.until(() => one.count('.notice'), 1)
    await other.reads('.notice', /^orders: The queue was paused\.$/)
    await elsewhere.reads('.notice', /^orders: The queue was paused\.$/)
    await other.reads('.verdict', /paused/)
    await one.go(keyPlace('a')('orders'))
    await press(one, 'Park')
    await agree(one, 'Park 1 key')
    await other.reads('.notice', /orders: a: The key was parked\./)
    // What is announced after it has been read: an announcement of the own action came before.
    await press(other, 'Resume')
    await one.reads('.notice', /orders: The queue was resumed\./)
    expect(await one.page.locator('.notice').allInnerTexts()).not.toContainEqual(
      expect.stringMatching(/orders: (?!The queue was resumed)/),
    )
    for (const visit of [one, other, elsewhere]) await visit.end()
  })

  it('claims that nothing changed only where that is certain', async () => {
    const driver = stores.sqlite()
    await stores.queue(driver, 'orders').add('a')
    const visit = await begin(driver, keyPlace('a')('orders'))
    visit.expected.push(/503|502|net::ERR_FAILED/)
    const answers = {
      ERR_STORE: 'Nothing changed: no',
      ERR_UNKNOWN_OUTCOME: 'The change may have been made, or a part of it: no',
      502: 'The change may have been made, or a part of it: the server answered 502',
      UNREACHABLE: 'The change may have been made, or a part of it: the dashboard’s server',
    }
    await press(visit, 'Park')
    for (const [code, words] of Object.entries(answers)) {
      await visit.page.unroute('**/api/act')
      await visit.page.route('**/api/act', async (route) => {
        if (code === 'UNREACHABLE') await route.abort()
        else if (code === '502') await route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' })
        else await route.fulfill({ status: 503, json: { code, message: 'no' } })
      })
      await agree(visit, 'Park 1 key')
      await visit.reads('.notice.failed', words)
    }
    // The next test may get this page.
    await visit.page.unroute('**/api/act')
    await visit.end()
  })

  it('is not offered where the dashboard is read-only, which says why', async () => {
    const driver = stores.sqlite()
    await stores.queue(driver, 'orders').add('a')
    const served = await serve({ driver, allowActions: false })
    stores.closing(() => served.stop())
    const visit = await Visit.begin(stage.browser, served, queuePage('orders'))
    await visit.until(() => visit.count('.key-grid tbody .row'), 1)
    expect(await visit.count('main button.button')).toBe(0)
    expect(await visit.count('main input[type=checkbox]')).toBe(0)
    await visit.reads('.read-only', /read only.*actions are not enabled/)
    await visit.end()
  })

  it('is grey with the reason where the store cannot do it', async () => {
    const driver = stores.sqlite()
    const lesser = new Proxy(driver, {
      get: (store, name) => {
        if (name === 'operate') return undefined
        if (name === 'capabilities') return { ...store.capabilities, operate: false }
        const value: unknown = Reflect.get(store, name, store)
        return typeof value === 'function' ? (value.bind(store) as unknown) : value
      },
    })
    await stores.queue(lesser, 'orders').add('a')
    const served = await serve({ driver: lesser })
    stores.closing(() => served.stop())
    const visit = await Visit.begin(stage.browser, served, keyPlace('a')('orders'))
    const park = visit.page.getByRole('button', { name: 'Park' })
    expect(await park.getAttribute('aria-disabled')).toBe('true')
    expect(await park.getAttribute('title')).toMatch(/lacks the capability “operate”/)
    await park.click({ force: true })
    expect(await visit.count('dialog')).toBe(0)
    await press(visit, 'Add again')
    await agree(visit, 'Add 1 key')
    await visit.reads('.notice', /nothing changed/i)
    await visit.end()
  })

  it('says so when the server refuses', async () => {
    const driver = stores.sqlite()
    await stores.queue(driver, 'orders').add('a')
    const visit = await begin(driver, queuePage('orders'))
    visit.expected.push(/400|401|403/)
    await press(visit, 'Add key')
    await visit.page.getByLabel('Key', { exact: true }).fill('x'.repeat(600))
    await agree(visit, 'Add 1 key')
    await visit.reads('.notice.failed', /^Nothing changed: .*512 bytes/)
    // Read to users of screen readers, and closed without the dialog and what was typed in it.
    const dialog = visit.page.getByRole('dialog')
    expect(await dialog.getByRole('status').textContent()).toMatch(/^Nothing changed: /)
    await visit.page.getByRole('button', { name: 'Close' }).click()
    await visit.until(() => visit.count('.notice'), 0)
    expect(await dialog.getByLabel('Key', { exact: true }).inputValue()).toBe('x'.repeat(600))
    expect(token.length).toBeGreaterThan(15)
    await visit.end()
  })
})
