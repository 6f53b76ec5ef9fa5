import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PageLocation } from '../client/src/location/location.ts'
import { hasChromium, startChromium } from './browser/chromium.ts'
import { type Served, serve } from './browser/served.ts'
import { startBrowser } from './browser/stage.ts'
import { coded, failOnce } from './browser/stores.ts'
import { ordersPage, Visit } from './browser/visit.ts'

const runningPlace = { ...ordersPage, queue: 'mails' } as const

/** Every screen, by where it is. */
const screens: Readonly<Record<string, PageLocation>> = {
  overview: { at: 'overview', filter: '', order: 'worst', range: '24h' },
  queue: ordersPage,
  'a queue that runs': runningPlace,
  filtered: { ...ordersPage, keys: { failuresMin: 1, prefix: 'failed' }, range: '1h' },
  failures: { at: 'failures', code: 'E'.repeat(80), range: '24h' },
  'failures of a queue': { at: 'failures', queue: 'orders', code: 'ECONNREFUSED' },
  unknown: { ...ordersPage, queue: 'order' },
  key: { at: 'key', queue: 'orders', key: `failed/${'k'.repeat(200)}` },
  'a key that failed with a long code': { at: 'key', queue: 'orders', key: 'failed too' },
  'an absent key of a long name': { at: 'key', queue: 'q'.repeat(120), key: 'absent' },
  'failures of a long name': { at: 'failures', queue: 'q'.repeat(120) },
}

/** What is wider than its card, or than the window, with its class. */
function overflowing(): string[] {
  const found: string[] = []
  const nameOf = (element: Element): string =>
    `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''}`
  if (document.documentElement.scrollWidth > innerWidth) {
    const wide = [...document.querySelectorAll('body *')].filter(
      (element) => element.getBoundingClientRect().right > innerWidth + 1,
    )
    found.push(`the page scrolls sideways: ${wide.map(nameOf).join(', ')}`)
  }
  for (const errors of document.querySelectorAll('.key-panels .scroll:has(.error)')) {
    if (errors.scrollWidth > errors.clientWidth) found.push('an error has to be scrolled sideways')
  }
  const cards =
    '.panel, .tile, .tiles, .grid, .row, .empty, .bulk, .totals, .queue-head, .keys-head, .failure-row, .crumbs li'
  for (const card of document.querySelectorAll(cards)) {
    if (getComputedStyle(card).display.startsWith('table')) continue
    const box = card.getBoundingClientRect()
    for (const element of card.querySelectorAll('*')) {
      const { left, right, width } = element.getBoundingClientRect()
      if (width === 0 || element.closest('.off-screen, [popover]') !== null) continue
      // What scrolls or is cut off inside of the card does not leave it.
      let isCut = false
      for (let up = element.parentElement; up !== null && up !== card; up = up.parentElement) {
        if (getComputedStyle(up).overflowX !== 'visible') isCut = true
      }
      if (isCut || (left >= box.left - 1 && right <= box.right + 1)) continue
      found.push(`${nameOf(element)} leaves ${nameOf(card)} by ${Math.round(right - box.right)} px`)
    }
  }
  return [...new Set(found)]
}

/** The texts of figures of the overview that take most room, by the titles of their columns. */
const widest = {
  ...{ Ready: '10,000+', Delayed: '10,000+', Backoff: '10,000+', Parked: '10,000+' },
  ...{ Oldest: '23 h 59 min', 'Wait p95': '23 h 59 min', 'Work p95': '23 h 59 min' },
  ...{ 'In/s': '1,234', 'Out/s': '1,234', Err: '100 %' },
}

/** Writes texts into the figures of the first queue. */
function fillIn(texts: Readonly<Record<string, string>>): void {
  for (const [title, text] of Object.entries(texts)) {
    const figure = document.querySelector(`.overview .row > [data-title="${title}"]`)
    if (figure === null) throw new Error(`the overview has no column ${title}`)
    figure.textContent = text.replaceAll(' ', '\u00a0')
  }
}

describe.skipIf(!hasChromium)('the layout of the page', { timeout: 300_000 }, () => {
  const stage = startBrowser()
  const { stores } = stage
  let served: Served
  let empty: Served
  let readOnly: Served
  let visit: Visit
  let page: Page

  beforeAll(async () => {
    const driver = stores.sqlite()
    const orders = stores.queue(driver, 'orders')
    await failOnce(orders, `failed/${'k'.repeat(200)}`, coded('ECONNREFUSED', 'no '.repeat(200)))
    await failOnce(orders, 'failed too', coded('E'.repeat(80), 'x'.repeat(400)))
    await orders.addMany(['ready', 'aside', 'x'.repeat(300), 'default/a-worker-with-a-long-name'])
    await orders.addAfter('later', 3_600_000)
    await orders.inspect.park('aside')
    await stores.queue(driver, 'q'.repeat(120)).addMany(['a', 'b'])
    const failing = stores.queue(driver, 'f'.repeat(120))
    await failOnce(failing, 'failed', coded('ECONNREFUSED', 'no'))
    await stores.queue(driver, 'mails').addMany(['held', 'again'])
    await stores.busyWorker(driver, 'mails', 'again')
    served = await serve({ driver, tickMs: 1_000 })
    stores.closing(() => served.stop())
    empty = await serve({ driver: stores.sqlite() })
    stores.closing(() => empty.stop())
    readOnly = await serve({ driver, allowActions: false, tickMs: 1_000 })
    stores.closing(() => readOnly.stop())
    visit = await Visit.begin(stage.browser, served, screens['overview'], { colorScheme: 'light' })
    page = visit.page
  })
  afterAll(() => visit.end())

  it('has room for the quantiles of a queue that runs at 320 px, a zoom of 400 %', async () => {
    await page.setViewportSize({ width: 320, height: 900 })
    await visit.go(runningPlace)
    await page.locator('.quantiles').first().waitFor()
    const ends = await page
      .locator('.quantiles > div')
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().right))
    expect(Math.max(...ends)).toBeLessThanOrEqual(320)
  })

  it('has room at 320 px for what the top bar says of any connection', async () => {
    const reader = await Visit.begin(stage.browser, readOnly, undefined, {
      viewport: { width: 320, height: 900 },
    })
    const found: Record<string, string[]> = {}
    const look = async (word: string) => {
      await reader.reads('.link-word', word)
      const list = await reader.page.evaluate(overflowing)
      const since = await reader.page
        .locator('.since')
        .evaluate((it) => it.scrollWidth - it.clientWidth)
      if (since > 0) list.push(`the age leaves its room by ${since} px`)
      if (list.length > 0) found[word] = list
    }
    await look('live')
    await reader.page.keyboard.press('p')
    await look('paused')
    // A stream that is asked for and not answered.
    await reader.page.route('**/api/stream*', () => undefined)
    await reader.page.keyboard.press('p')
    await look('connecting')
    await reader.page.route('**/api/*', (route) => route.abort())
    reader.expected.push(/ERR_FAILED/)
    await reader.page.keyboard.press('p')
    await reader.page.keyboard.press('p')
    await look('no connection')
    expect(found).toEqual({})
    await reader.page.unrouteAll({ behavior: 'ignoreErrors' })
    await reader.end()
  })

  it('leaves room at 360 px for the code of failures in a queue of a long name', async () => {
    await page.setViewportSize({ width: 360, height: 900 })
    await visit.go({ at: 'failures' })
    const codes = page.locator('.failure-row .code', { hasText: /^ECONNREFUSED$/ })
    await visit.until(() => codes.count(), 2)
    const heights = await codes.evaluateAll((all) => all.map((code) => code.clientHeight))
    expect(heights[0]).toBeGreaterThan(0)
    expect(heights[1]).toBe(heights[0])
  })

  it.each([320, 1_280])(
    'keeps the name of an error whole next to a long code at %i px',
    async (width) => {
      await page.setViewportSize({ width, height: 900 })
      await visit.go(screens['a key that failed with a long code'] as PageLocation)
      const name = page.locator('.error-head .faint', { hasText: /^Error$/ })
      await name.waitFor()
      const lines = await name.evaluate(
        (it) => it.clientHeight / Number.parseFloat(getComputedStyle(it).lineHeight),
      )
      expect(lines).toBeLessThan(1.5)
    },
  )

  for (const width of [320, 360, 768, 1_024, 1_060, 1_440]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      it(`has no element that leaves its card at ${width} px, ${colorScheme}`, async () => {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme })
        const found: Record<string, string[]> = {}
        for (const [name, place] of Object.entries(screens)) {
          await visit.go(place)
          const what =
            place.at === 'overview'
              ? '.overview .row'
              : '.key-screen, .key-grid, .empty, .failure-details, .none.panel'
          await page.locator(what).first().waitFor()
          if (name === 'a queue that runs') await page.locator('.quantiles').first().waitFor()
          const list = await page.evaluate(overflowing)
          if (list.length > 0) found[name] = list
        }
        const stranger = await Visit.begin(stage.browser, empty, undefined, {
          colorScheme,
          viewport: { width, height: 900 },
        })
        const list = await stranger.page.evaluate(overflowing)
        if (list.length > 0) found['no queue'] = list
        await stranger.end()
        expect(found).toEqual({})
      })
    }
  }

  // Where a column more begins to be shown, the table has the least room.
  it.each([1_056, 1_200, 1_312, 1_400, 1_440])(
    'has room for wide figures at %i px',
    async (width) => {
      await visit.go(screens['overview'] as PageLocation)
      await page.setViewportSize({ width, height: 900 })
      await page.locator('.overview .row').first().waitFor()
      const list = await page.evaluate(`(${fillIn})(${JSON.stringify(widest)}); (${overflowing})()`)
      expect(list).toEqual([])
    },
  )

  it('has room for texts of twice the size, chosen in the browser', async () => {
    const large = await startChromium('--blink-settings=defaultFontSize=32')
    const reader = await Visit.begin(large, served, screens['overview'], {})
    const found: Record<string, string[]> = {}
    for (const width of [760, 1_280]) {
      await reader.page.setViewportSize({ width, height: 900 })
      await reader.go(screens['overview'] as PageLocation)
      await reader.page.locator('.overview .row').first().waitFor()
      const list = await reader.page.evaluate(overflowing)
      if (list.length > 0) found[width] = list
    }
    expect(found).toEqual({})
    await reader.end()
    await large.close()
  })

  it('finds an element that leaves its card', async () => {
    await visit.go(screens['overview'] as PageLocation)
    await page.locator('.panel').first().waitFor()
    await page.evaluate(() => {
      const wide = document.createElement('div')
      wide.className = 'far'
      wide.attributeStyleMap.set('width', CSS.px(3_000))
      document.querySelector('.panel')?.append(wide)
    })
    expect((await page.evaluate(overflowing)).join()).toContain('div.far leaves section.panel')
    // Other tests share the page.
    await page.locator('.far').evaluate((wide) => wide.remove())
  })
})
