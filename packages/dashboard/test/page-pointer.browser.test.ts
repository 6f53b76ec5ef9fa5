import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from './browser/chromium.ts'
import { type Served, serve } from './browser/served.ts'
import { SharedVisit } from './browser/shared-visit.ts'
import { startBrowser } from './browser/stage.ts'
import { coded, failOnce } from './browser/stores.ts'
import { ordersPage, Visit } from './browser/visit.ts'

describe.skipIf(!hasChromium)('the pointer', { timeout: 240_000 }, () => {
  const stage = startBrowser()
  const { stores } = stage
  let served: Served
  const desk = new SharedVisit(() => Visit.begin(stage.browser, served))

  beforeAll(async () => {
    const driver = stores.sqlite()
    const orders = stores.queue(driver, 'orders')
    await failOnce(orders, 'failed', coded('ECONNREFUSED', 'there is no such host '.repeat(4)))
    served = await serve({ driver })
    stores.closing(() => served.stop())
  })
  afterAll(() => desk.end())

  /** Presses at the first point of an element, moves to the second, and lets go. */
  async function drag(visit: Visit, selector: string, from: number, to: number): Promise<void> {
    const element = visit.page.locator(selector).first()
    // The pointer presses what is in view only.
    await element.scrollIntoViewIfNeeded()
    const box = await element.boundingBox()
    if (box === null) throw new Error(`${selector} is not shown`)
    const y = box.y + box.height / 2
    await visit.page.mouse.move(box.x + from, y)
    await visit.page.mouse.down()
    await visit.page.mouse.move(box.x + to, y, { steps: 4 })
    await visit.page.mouse.up()
  }

  it(
    'selects a text in a row without opening the row',
    desk.on(async (visit) => {
      await visit.go(ordersPage)
      await visit.page.locator('.error-cell .name').waitFor()
      await drag(visit, '.error-cell .name', 110, 210)
      expect(await visit.page.evaluate(() => String(getSelection()))).toContain('is no')
      await visit.reads('h1', /^orders$/)
      await visit.page.locator('.key-grid .row .figure').first().click()
      await visit.reads('h1', /^failed$/)
    }),
  )

  it(
    'sorts queues by a column, and no more by it after a second press',
    desk.on(async (visit) => {
      const header = visit.page.getByRole('columnheader', { name: 'Parked' })
      const sort = header.getByRole('button', { name: 'Parked', exact: true })
      await sort.click()
      await visit.until(() => header.getAttribute('aria-sort'), 'descending')
      expect(new URL(visit.page.url()).hash).toBe('#/?order=parked')
      await sort.click()
      await visit.until(() => header.getAttribute('aria-sort'), 'none')
      expect(new URL(visit.page.url()).hash).toBe('#/')
    }),
  )

  it(
    'begins a screen at its top, comes back to where one was scrolled, and goes nowhere twice',
    desk.on(async (visit) => {
      const { page } = visit
      const scrolled = () => page.evaluate(() => scrollY)
      const steps = () => page.evaluate(() => history.length)
      await page.setViewportSize({ width: 1_280, height: 200 })
      await visit.go(ordersPage)
      const figure = page.locator('.key-grid .row .figure').first()
      await figure.waitFor()
      await page.evaluate(() => scrollTo(0, 150))
      // The second time, the key is shown at once.
      for (const _ of [1, 2]) {
        await figure.dispatchEvent('click')
        await visit.reads('h1', /^failed$/)
        await visit.reads('.key-state', 'backoff')
        expect(await scrolled()).toBe(0)
        await page.goBack()
        await visit.reads('h1', /^orders$/)
        await visit.until(scrolled, 150)
      }
      await page.keyboard.press('f')
      await visit.reads('h1', /^Failures/)
      const before = await steps()
      await page.keyboard.press('f')
      expect(await steps()).toBe(before)
      await page.setViewportSize({ width: 1_280, height: 720 })
    }),
  )

  it.each(['Control', 'Shift'] as const)(
    'opens a row on a page of its own with %s, as its link does',
    (modifier) =>
      desk.on(async (visit) => {
        await visit.go(ordersPage)
        const opened = visit.context.waitForEvent('page')
        await visit.page
          .locator('.key-grid .row .figure')
          .first()
          .click({ modifiers: [modifier] })
        const other = await opened
        await other.waitForURL(/#\/key\?queue=orders&key=failed$/)
        await other.close()
        await visit.reads('h1', /^orders$/)
      })(),
  )

  it(
    'opens the failures of a queue on a page of its own with Control',
    desk.on(async (visit) => {
      await visit.go({ at: 'failures' })
      const opened = visit.context.waitForEvent('page')
      await visit.page.locator('.failure-queue').click({ modifiers: ['Control'] })
      const other = await opened
      await other.waitForURL(/#\/failures\?queue=orders$/)
      await other.close()
      expect(new URL(visit.page.url()).hash).toBe('#/failures')
    }),
  )

  it(
    'leaves a dialog open when a text is selected beyond its edge',
    desk.on(async (visit) => {
      await visit.go(ordersPage)
      await visit.page.getByRole('button', { name: 'Add key' }).click()
      await visit.page.locator('dialog input').first().fill('a key that is being typed')
      await drag(visit, 'dialog input', 100, -200)
      expect(await visit.count('dialog')).toBe(1)
      await visit.page.mouse.click(20, 300)
      await visit.until(() => visit.count('dialog'), 0)
    }),
  )
})
