import type { Page } from 'playwright-core'
import { createQueue, createWorker } from 'sluice'
import { type FakeClock, fakeClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { hasChromium } from './browser/chromium.ts'
import { serve } from './browser/served.ts'
import { startStage } from './browser/stage.ts'
import { coded, failOnce } from './browser/stores.ts'
import { ordersPage, overview, plain, Visit } from './browser/visit.ts'

/** The dashboard reads on its clock, which has to go on while the page is looked at. */
async function keepStepping(clock: FakeClock, frames: Page, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await stepInFrame(clock, frames, 20)
}

/**
 * A step, and a frame of the browser after which calls of the store can be answered: by a clock that jumps,
 * they would time out.
 */
async function stepInFrame(clock: FakeClock, frames: Page, ms: number): Promise<void> {
  await clock.step(ms)
  await frames.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)))
}

describe.skipIf(!hasChromium)('charts, counts and actions', { timeout: 240_000 }, () => {
  const { stage, kinds } = startStage()
  const { stores } = stage

  describe.each(kinds)('over %s', (_, make) => {
    it('counts every key when asked, also of a queue with more than are counted', async () => {
      const driver = make()
      const queue = stores.queue(driver, 'orders')
      const keys = Array.from({ length: 10_250 }, (_, at) => `key/${at}`)
      await queue.addMany(keys)
      await queue.addAfter('later', 3_600_000)
      const served = await serve({ driver })
      stores.closing(() => served.stop())
      const visit = await Visit.begin(stage.browser, served, ordersPage)
      await visit.reads('.tile-ready', /10,000\+/)
      await visit.page.getByRole('button', { name: 'Count every key' }).click()
      await visit.reads('.count-all', /10,250 ready, 1 delayed, counted in .* Count again/)
      await queue.add('one more')
      await visit.page.getByRole('button', { name: 'Count again' }).click()
      await visit.reads('.count-all', /10,251 ready, 1 delayed/)
      await visit.go({ ...ordersPage, keys: { state: 'ready' } })
      const { page } = visit
      await page.getByRole('button', { name: 'Park …', exact: true }).click()
      await visit.reads(
        'dialog',
        /10,000\+ keys match: ready\. More keys match; this action does not/,
      )
      await page.getByRole('button', { name: 'Park 10,000 keys', exact: true }).click()
      await visit.reads(
        '.notice',
        /^10,000 keys were parked\. More than 10,000 keys match; the others/,
      )
      expect((await queue.inspect.counts({ cap: 20_000 })).parked).toBe(10_000)
      await visit.end()
    })

    it('acts on every key that fails with a code, from the view of failures', async () => {
      const driver = make()
      const queue = stores.queue(driver, 'orders')
      for (const key of ['a', 'b', 'c']) await failOnce(queue, key, coded('E_HOST', 'is away'))
      await failOnce(queue, 'other', coded('E_MAIL', 'no such address'))
      const served = await serve({ driver })
      stores.closing(() => served.stop())
      const visit = await Visit.begin(stage.browser, served, { at: 'failures', queue: 'orders' })
      const { page } = visit
      await page.locator('.failure-code', { hasText: 'E_HOST' }).click()
      const does = async (label: string, verb: string) => {
        await page
          .locator('.failure-details')
          .getByRole('button', { name: label, exact: true })
          .click()
        await page.locator('dialog').getByRole('button', { name: verb, exact: true }).click()
        await visit.until(() => visit.count('dialog'), 0)
      }
      const states = async () =>
        (await queue.inspect.list()).keys.map(({ key, state }) => `${key} ${state}`)
      await does('Park …', 'Park 3 keys')
      expect(await states()).toEqual(['a parked', 'b parked', 'c parked', 'other backoff'])
      await does('Unpark …', 'Unpark 3 keys')
      expect(await states()).toEqual(['a backoff', 'b backoff', 'c backoff', 'other backoff'])
      await does('Run now …', 'Run now 3 keys')
      expect(await states()).toEqual(['a ready', 'b ready', 'c ready', 'other backoff'])
      await page.locator('.failure-details').getByRole('button', { name: 'Remove …' }).click()
      await page.locator('dialog input').fill('orders')
      await page.locator('dialog').getByRole('button', { name: 'Remove 3 keys' }).click()
      await visit.until(() => visit.count('dialog'), 0)
      expect(await states()).toEqual(['other backoff'])
      await visit.end()
    })

    it('counts error codes as a part where only some keys were read', async () => {
      const driver = make()
      const queue = stores.queue(driver, 'orders')
      await failOnce(queue, 'failed', coded('E_HOST', 'is away'))
      await queue.addMany(Array.from({ length: 1_001 }, (_, at) => `key/${at}`))
      const served = await serve({ driver })
      stores.closing(() => served.stop())
      const visit = await Visit.begin(stage.browser, served, { at: 'failures' })
      await visit.reads('.totals', /error codes 1\+ keys failing now 1\+ queues with failures 1\+/)
      await visit.go(ordersPage)
      await visit.reads('.panel a.link', /^1\+ codes, all runs$/)
      await visit.end()
    })

    it('marks incidents, says since when, and tells the value of a step', async () => {
      const driver = make()
      const clock = fakeClock(Date.UTC(2026, 10, 21, 12, 38, 33))
      const queue = createQueue<string>({ name: 'orders', driver, clock })
      const worker = createWorker({ queue, concurrency: 2, handler: () => Promise.resolve() })
      stores.closing(() => queue.close())
      stores.closing(() => worker.stop())
      const lastRecord = async () => {
        const { stepMs, steps } = await queue.inspect.history({ range: '5m' })
        return (steps.at(-1)?.at ?? 0) + stepMs
      }
      // The worker records every ten seconds, in real time, and not while its last record is under way:
      // a gap would hide since when.
      const recorded = () => {
        const due = clock.now() - 10_000
        return expect.poll(lastRecord, { interval: 5 }).toBeGreaterThanOrEqual(due)
      }
      const seconds = async (count: number) => {
        for (let second = 1; second <= count; second += 1) {
          await queue.add(`key/${second % 20}`)
          await clock.step(1_000)
          if (second % 10 === 0) await recorded()
        }
      }
      await recorded()
      await seconds(60)
      await queue.inspect.pause()
      await queue.inspect.park('key/0')
      await seconds(150)
      const served = await serve({ driver, clock })
      stores.closing(() => served.stop())
      const frames = await stage.browser.newPage()
      const stopped = new AbortController()
      const running = keepStepping(clock, frames, stopped.signal)
      stores.closing(async () => {
        stopped.abort()
        await running
        await frames.close()
      })
      const visit = await Visit.begin(stage.browser, served, ordersPage, {
        timezoneId: 'UTC',
        viewport: { width: 1_440, height: 900 },
      })
      const { page } = visit
      await visit.reads('.verdict', /^paused for \d min Paused; \d+ keys ready/)
      await visit.reads('.mark-legend', /^paused worker started$|^parked paused worker started$/)
      const titles = () =>
        page
          .locator('.chart-mark')
          .evaluateAll((all) => all.map((one) => one.getAttribute('title')))
      expect((await titles()).join('; ')).toMatch(/1 worker started.*paused/)

      // The chart, with the keyboard.
      const chart = page.getByRole('slider', { name: 'Work, last 5 min' })
      expect(await chart.getAttribute('aria-valuetext')).toMatch(/^latest: .* ready$/)
      await chart.focus()
      await page.keyboard.press('Home')
      await visit.reads('.chart-when', /^12:3\d:\d0, not recorded$/)
      // The steps stand still while the keyboard goes through them.
      await page.keyboard.press('p')
      await visit.reads('.freshness', /^paused/)
      const found: string[] = []
      for (let step = 0; step < 31; step += 1) {
        await page.keyboard.press('ArrowRight')
        found.push(plain((await page.locator('.chart-when').textContent()) ?? ''))
      }
      expect(found.filter((text) => text.includes('paused'))).toHaveLength(1)
      expect(await chart.getAttribute('aria-valuenow')).toBe('30')
      await page.keyboard.press('p')
      await page.keyboard.press('Escape')
      await visit.reads('.chart-when', /^latest$/)
      // With the mouse.
      await chart.hover({ position: { x: 5, y: 20 } })
      await visit.reads('.chart-when', /^12:3\d:\d0, not recorded$/)
      await page.mouse.move(0, 0)

      // The durations of the last minute: the keys that waited run, and the next heartbeat reports them.
      await queue.inspect.resume()
      for (let step = 0; step < 48; step += 1) await stepInFrame(clock, frames, 250)
      const work = page.getByRole('slider', { name: /^Work of \d+ runs/ })
      await work.focus()
      await page.keyboard.press('Home')
      await visit.reads('.strip-bars .bubble', /^up to .*: [\d,]+ runs?$/)
      // The sparkline of the overview.
      await visit.go(overview)
      const spark = page.getByRole('slider', { name: 'Ready keys, last 5 min' })
      expect(await spark.getAttribute('aria-valuetext')).toMatch(/at the end, at most \d+$/)
      await spark.focus()
      await page.keyboard.press('ArrowLeft')
      await page.keyboard.press('ArrowLeft')
      await visit.reads('.sparkline-box .bubble', /^\d+ ready, 10 s ago$/)
      await page.keyboard.press('Home')
      await visit.reads('.sparkline-box .bubble', 'not recorded, 5 min ago')
      await spark.hover({ position: { x: 60, y: 10 } })
      await visit.reads('.sparkline-box .bubble', /, 2 min 30 s ago$/)
      // What was recorded last is not shown as the present once it is old.
      await worker.stop()
      for (let step = 0; step < 240; step += 1) await stepInFrame(clock, frames, 250)
      await visit.reads('.chart-when', /^latest, (1 min|\d\d s).* ago$/)
      // Choosing a step does not open the queue.
      await spark.click({ position: { x: 60, y: 10 } })
      expect(page.url()).not.toContain('queue')
      await visit.end()
    })
  })
})
