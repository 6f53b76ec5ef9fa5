import axe, { type AxeResults } from 'axe-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from './browser/chromium.ts'
import { type Served, serve } from './browser/served.ts'
import { SharedVisit } from './browser/shared-visit.ts'
import { startBrowser } from './browser/stage.ts'
import { coded, failOnce } from './browser/stores.ts'
import { ordersPage, overview, Visit } from './browser/visit.ts'

const keyPage = { at: 'key', queue: 'orders', key: 'failed' } as const
const aPhone = { viewport: { width: 360, height: 740 }, hasTouch: true }

describe.skipIf(!hasChromium)('the appearance of the page', { timeout: 300_000 }, () => {
  const stage = startBrowser()
  const { stores } = stage
  let served: Served
  let empty: Served
  const desk = new SharedVisit(() => Visit.begin(stage.browser, served))
  const phone = new SharedVisit(() => Visit.begin(stage.browser, served, overview, aPhone))

  beforeAll(async () => {
    const driver = stores.sqlite()
    const orders = stores.queue(driver, 'orders')
    const failure = coded('ECONNREFUSED', 'nobody listens')
    failure.stack = `Error: nobody listens\n    at file://${'/folder'.repeat(40)}`
    await failOnce(orders, 'failed', failure)
    await orders.addMany(['ready', 'aside', 'x'.repeat(300), { an: 'item' }])
    await orders.addAfter('later', 3_600_000)
    await orders.inspect.park('aside')
    await stores.queue(driver, 'a queue with a name that is rather long, to see').add('a')
    await stores.queue(driver, 'mails').add('held')
    stores.worker(driver, 'mails', async (_, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    const paused = stores.queue(driver, 'paused')
    await paused.add('a')
    await paused.inspect.pause()
    // Screens are compared without animations.
    served = await serve({ driver, tickMs: 1_000 })
    stores.closing(() => served.stop())
    empty = await serve({ driver: stores.sqlite() })
    stores.closing(() => empty.stop())
  })
  afterAll(async () => {
    await desk.end()
    await phone.end()
  })

  const press = (visit: Visit, name: string) =>
    visit.page.getByRole('button', { name, exact: true }).first().click()

  /** Every screen of a signed-in user, with the dialogs that can cover one. */
  const screens: Readonly<Record<string, (visit: Visit) => Promise<void>>> = {
    overview: (visit) => visit.until(() => visit.count('.overview .row'), 4),
    queue: async (visit) => {
      await visit.go(ordersPage)
      await visit.until(() => visit.count('.key-grid tbody .row'), 6)
      // As many as are counted: a wide figure is next to the button that explains the state.
      await visit.page.locator('.tile-ready .tile-count').evaluate((count) => {
        count.textContent = '10,000+'
      })
    },
    'queue at work': async (visit) => {
      await visit.go({ ...ordersPage, queue: 'mails' })
      await visit.reads('h1', 'mails')
    },
    'ticked keys': async (visit) => {
      await visit.go(ordersPage)
      await visit.page.getByLabel('Select later').click()
      await visit.until(() => visit.count('.row.selected'), 1)
    },
    key: async (visit) => {
      await visit.go(keyPage)
      await visit.page.click('.errors summary')
    },
    item: async (visit) => {
      await visit.go({ ...keyPage, key: 'json:{"an":"item"}' })
      await visit.page.click('text=show the item')
      await visit.reads('.json', /"an": "item"/)
    },
    failures: async (visit) => {
      await visit.go({ at: 'failures', code: 'ECONNREFUSED' })
      await visit.page.locator('.failed-runs li').first().waitFor()
    },
    'absent key': async (visit) => {
      await visit.go({ ...keyPage, key: 'nothing' })
      await visit.reads('.key-state', 'absent')
    },
    'add dialog': async (visit) => {
      await visit.go(ordersPage)
      await press(visit, 'Add key')
      await visit.page.locator('dialog').getByRole('button', { name: 'Add 1 key' }).click()
      await visit.reads('dialog .refusal', /at least/)
    },
    'purge dialog': async (visit) => {
      await visit.go(ordersPage)
      await press(visit, 'Purge')
      await visit.page.locator('dialog').waitFor()
    },
    help: async (visit) => {
      await visit.page.keyboard.press('?')
      await visit.page.locator('dialog').waitFor()
    },
    meaning: async (visit) => {
      await visit.go(ordersPage)
      await press(visit, 'What does backoff mean?')
      await visit.reads('.meaning', /limiter/)
    },
    notice: async (visit) => {
      await visit.go({ ...keyPage, key: 'ready' })
      await press(visit, 'Add again')
      await press(visit, 'Add 1 key')
      await visit.reads('.notice', /nothing changed/i)
    },
  }

  async function axeFinds(visit: Visit): Promise<string[]> {
    const isThere = await visit.page.evaluate(() => 'axe' in globalThis)
    if (!isThere) await visit.page.evaluate(axe.source)
    const { violations } = await visit.page.evaluate(
      () =>
        (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
          preload: false,
          // Passing elements are not reported: that takes as long as finding them.
          resultTypes: ['violations'],
          runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
        }) as Promise<AxeResults>,
    )
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
    )
  }

  /** Checks a screen in both colour schemes, each time right after it was opened. */
  async function looksGood(visit: Visit, open: (visit: Visit) => Promise<void>): Promise<void> {
    const found: Record<string, string[]> = {}
    for (const colorScheme of ['light', 'dark'] as const) {
      await visit.tidy()
      await visit.page.emulateMedia({ colorScheme })
      await open(visit)
      found[colorScheme] = await axeFinds(visit)
    }
    expect(found).toEqual({ light: [], dark: [] })
  }

  async function fits(visit: Visit): Promise<void> {
    const [width, outside] = await visit.page.evaluate(() => {
      const wide = [...document.querySelectorAll<HTMLElement>('main *, header *, dialog *')]
      const isClipped = (element: Element | null): boolean =>
        element !== null &&
        (getComputedStyle(element).overflowX !== 'visible' || isClipped(element.parentElement))
      const beyond = wide
        .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
        .filter(
          (element) =>
            !isClipped(element.parentElement?.closest('main, header, dialog, *') ?? null),
        )
      return [
        document.documentElement.scrollWidth,
        beyond.map((element) => element.outerHTML.slice(0, 120)),
      ] as const
    })
    expect(outside).toEqual([])
    expect(width).toBeLessThanOrEqual(360)
  }

  for (const [name, open] of Object.entries(screens)) {
    it(
      `has nothing that axe finds, in light and in dark: ${name}`,
      desk.on((visit) => looksGood(visit, open)),
    )

    it(
      `fits a phone: ${name}`,
      phone.on(async (visit) => {
        await open(visit)
        await fits(visit)
      }),
    )
  }

  it('has nothing that axe finds, in light and in dark: the empty store', async () => {
    const visit = await Visit.begin(stage.browser, empty)
    await looksGood(visit, () => visit.reads('.empty', /No queue yet/))
    await visit.end()
  })

  async function signedOut(visit: Visit): Promise<void> {
    visit.expected.push(/401/)
    await visit.context.clearCookies()
    await visit.page.reload()
    await visit.reads('h1', 'Sign in')
  }

  it('has nothing that axe finds, in light and in dark: sign-in', async () => {
    const visit = await Visit.begin(stage.browser, served)
    await signedOut(visit)
    const light = await axeFinds(visit)
    await visit.page.emulateMedia({ colorScheme: 'dark' })
    expect({ light, dark: await axeFinds(visit) }).toEqual({ light: [], dark: [] })
    await visit.end()
  })

  it('fits a phone: sign-in', async () => {
    const visit = await Visit.begin(stage.browser, served, overview, aPhone)
    await signedOut(visit)
    await fits(visit)
    await visit.end()
  })

  it('has the colours of the system until the user chooses, and remembers the choice', async () => {
    const visit = await Visit.begin(stage.browser, served, overview, { colorScheme: 'dark' })
    const ground = () =>
      visit.page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const dark = await ground()
    await visit.page.emulateMedia({ colorScheme: 'light' })
    await visit.until(async () => (await ground()) === dark, false)
    const light = await ground()
    await press(visit, 'Use dark colours')
    await visit.until(ground, dark)
    await visit.page.reload()
    await visit.until(ground, dark)
    await press(visit, 'Use light colours')
    await visit.until(ground, light)
    await visit.end()
  })

  it('has rows as high as the user chooses, and remembers the choice', async () => {
    const visit = await Visit.begin(stage.browser, served)
    const compact = visit.page.getByRole('button', { name: 'Compact rows' })
    const height = () =>
      visit.page
        .locator('.overview .row')
        .first()
        .evaluate((row) => row.getBoundingClientRect().height)
    const high = await height()
    const isLower = async () => (await height()) < high
    await compact.click()
    await visit.until(isLower, true)
    await visit.page.reload()
    await visit.until(isLower, true)
    await visit.until(() => compact.getAttribute('aria-pressed'), 'true')
    await compact.click()
    await visit.until(height, high)
    await visit.page.reload()
    await visit.until(height, high)
    await visit.end()
  })

  it('draws the chart in the colours of the theme', async () => {
    const visit = await Visit.begin(stage.browser, served, {
      ...ordersPage,
      queue: 'mails',
    })
    const legend = visit.page.locator('.legend-done').first()
    await legend.waitFor()
    const colour = () =>
      legend.evaluate((element) => getComputedStyle(element, '::before').backgroundColor)
    const before = await colour()
    await press(visit, 'Use dark colours')
    await visit.until(async () => (await colour()) === before, false)
    await visit.end()
  })

  it('is dark on white on paper, in either theme, without what can only be clicked', async () => {
    const visit = await Visit.begin(stage.browser, served, ordersPage)
    await press(visit, 'Use dark colours')
    await visit.page.emulateMedia({ media: 'print' })
    const colour = () => visit.page.evaluate(() => getComputedStyle(document.body).color)
    await visit.until(colour, 'rgb(22, 28, 34)')
    expect(
      await visit.page.locator('.buttons, .filters, .top-tools').filter({ visible: true }).count(),
    ).toBe(0)
    await visit.page.emulateMedia({ media: null })
    await visit.until(colour, 'rgb(227, 233, 238)')
    await visit.end()
  })

  it('keeps the colours that the chart is explained with where the system chooses the others', async () => {
    const visit = await Visit.begin(stage.browser, served, {
      ...ordersPage,
      queue: 'mails',
    })
    await visit.page.locator('.legend-failed').first().waitFor()
    const colours = () =>
      visit.page
        .locator('.legend')
        .evaluateAll((all) => all.map((each) => getComputedStyle(each, '::before').backgroundColor))
    const before = await colours()
    // The ground is the system's then, and not that of the theme.
    await press(visit, 'Use dark colours')
    expect(await colours()).not.toEqual(before)
    await visit.page.emulateMedia({ forcedColors: 'active' })
    expect(await colours()).toEqual(before)
    await visit.page.emulateMedia({ forcedColors: null })
    await visit.end()
  })

  it('does not move for users who prefer reduced motion', async () => {
    const moving = (visit: Visit) => () =>
      visit.page.evaluate(() => document.getAnimations().length)
    const calm = await Visit.begin(stage.browser, served, keyPage)
    expect(await moving(calm)()).toBe(0)
    await calm.end()
    const lively = await Visit.begin(stage.browser, served, keyPage, {
      reducedMotion: 'no-preference',
    })
    await lively.until(async () => (await moving(lively)()) > 0, true)
    await lively.end()
  })

  it('cuts the middle of long names, whichever way their text runs', async () => {
    const keys = ['abcdefghij', 'ابتثجحخدذر'].map((letters) => letters.repeat(13))
    const driver = stores.sqlite()
    await stores.queue(driver, 'orders').addMany(keys)
    const own = await serve({ driver })
    stores.closing(() => own.stop())
    const visit = await Visit.begin(stage.browser, own, ordersPage)
    await visit.until(() => visit.count('.key-grid .name.split'), 2)
    const shown = await visit.page.locator('.key-grid .name.split').evaluateAll((names) =>
      names.map((name) => {
        const { left, right } = name.getBoundingClientRect()
        const letters = document.createTreeWalker(name, NodeFilter.SHOW_TEXT)
        const isWithin = (text: Node | null, at: number) => {
          const range = document.createRange()
          range.setStart(text as Node, at)
          range.setEnd(text as Node, at + 1)
          const box = range.getBoundingClientRect()
          return box.left >= left - 1 && box.right <= right + 1
        }
        const first = letters.nextNode()
        const isStartShown = isWithin(first, 0)
        const isCut = !isWithin(first, (first?.textContent?.length ?? 0) - 1)
        return { isStartShown, isCut, isEndShown: isWithin(letters.nextNode(), 9) }
      }),
    )
    const whole = { isStartShown: true, isCut: true, isEndShown: true }
    expect(shown).toEqual([whole, whole])
    await visit.end()
  })
})
