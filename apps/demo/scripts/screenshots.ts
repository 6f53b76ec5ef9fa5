// Makes the pictures of docs/images from the shop of the demo: the real dashboard, a real SQLite file, and a clock that runs as fast as the machine can.
//
//   node --conditions=sluice-source scripts/screenshots.ts
//
// With a folder as argument, it makes a picture of every screen at three widths in both themes there
// instead, to be looked at.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveDashboard } from '@sluice/dashboard/node'
import { chromiumPath } from '@sluice/needs/chromium'
import { sqliteDriver } from '@sluice/sqlite'
import { chromium, type Page } from 'playwright-core'
import { fakeClock } from 'sluice/testing'
import { shopInOneProcess } from './shop-in-one-process.ts'

const folderOfAll = process.argv[2]
const images = new URL('../../../docs/images/', import.meta.url)
const widths = [360, 768, 1_440] as const
const schemes = ['light', 'dark'] as const
/** The rest of a long page is more rows of the same kind. */
const heightMax = 2_400
const token = 'nobody but this script'

/** For how long the store has lived, in seconds: the history is five minutes long. */
const seconds = 330
/** For how long the page of a key is watched, so that it has steps to show. */
const watchedSeconds = 75

const clock = fakeClock(Date.UTC(2026, 10, 21, 12, 38, 33))
const folder = mkdtempSync(join(tmpdir(), 'sluice-pictures-'))
const driver = sqliteDriver({ file: join(folder, 'shop.db'), durability: 'process' })
const store = shopInOneProcess(driver, clock)
const dashboard = await serveDashboard({
  driver,
  clock,
  storeName: 'sqlite:shop.db',
  allowActions: true,
  auth: { token },
})
const browser = await chromium.launch({
  ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
  // Chromium's sandbox does not start for root in a container; the pages shown here are trusted.
  args: ['--no-sandbox', '--force-color-profile=srgb'],
})

/** Waits for the page while the clock advances, since the dashboard reads on its clock. */
async function meanwhile(waiting: Promise<unknown>): Promise<void> {
  let isOver = false
  const over = waiting.finally(() => {
    isOver = true
  })
  for (let step = 1; !isOver; step += 1) {
    if (step % 40 === 0) await store.second()
    await clock.step(25)
    await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 20))])
  }
  await over
}

async function open(colorScheme: 'light' | 'dark'): Promise<Page> {
  const page = await browser.newPage({
    colorScheme,
    viewport: { width: 1280, height: 800 },
    deviceScaleFactor: 1.5,
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  })
  await page.goto(dashboard.signInUrl ?? dashboard.url)
  await meanwhile(page.locator('main .screen, main .empty').waitFor())
  return page
}

async function live(count: number): Promise<void> {
  for (let second = 0; second < count; second += 1) {
    await store.second()
    await clock.step(1_000)
  }
}

/** Goes to a screen: an overview without parameters, a queue, or a key. */
async function go(page: Page, at: string, parameters: Record<string, string> = {}): Promise<void> {
  await page.evaluate(
    (hash) => {
      location.hash = hash
    },
    `#/${at}?${new URLSearchParams(parameters)}`,
  )
}

/** A key that has failed often, but whose next retry is near. */
async function failingKey(page: Page): Promise<string> {
  const query = new URLSearchParams({ queue: 'webhooks', state: 'backoff', limit: '100' })
  const { keys } = await page.evaluate(
    async (path) =>
      (await (await fetch(path)).json()) as { keys: { key: string; failures: number }[] },
    `api/keys?${query}`,
  )
  const found = keys
    .toSorted((a, b) => b.failures - a.failures)
    .find(({ failures }) => failures <= 5)
  return found?.key ?? keys[0]?.key ?? 'none'
}

async function shoot(page: Page, name: string, scheme: string, height: number): Promise<void> {
  await page.setViewportSize({ width: 1280, height })
  await page.mouse.move(2, 400)
  await page.evaluate(() => document.fonts.ready)
  await meanwhile(page.locator('.freshness.live').waitFor())
  const path = join(images.pathname, `dashboard-${name}-${scheme}.png`)
  await page.screenshot({ path, animations: 'disabled' })
  console.log(path)
}

/** Every screen at each width, in one theme. */
async function shootAll(page: Page, scheme: string, failing: string, to: string): Promise<void> {
  const screens: Readonly<Record<string, readonly [string, Readonly<Record<string, string>>]>> = {
    overview: ['', {}],
    queue: ['queue', { queue: 'pods' }],
    failing: ['queue', { queue: 'webhooks', failuresMin: '1' }],
    failures: ['failures', {}],
    'failures-open': ['failures', { queue: 'webhooks', code: 'HTTP_410' }],
    unknown: ['queue', { queue: 'pod' }],
    key: ['key', { queue: 'webhooks', key: failing }],
    absent: ['key', { queue: 'webhooks', key: 'customer/0' }],
  }
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 })
    for (const [name, [screen, query]] of Object.entries(screens)) {
      await go(page, screen, query)
      await meanwhile(page.waitForTimeout(700))
      const path = join(to, `${name}-${width}-${scheme}.png`)
      const whole = await page.evaluate(() => document.documentElement.scrollHeight)
      const clip = { x: 0, y: 0, width, height: Math.min(whole, heightMax) }
      await page.screenshot({ path, animations: 'disabled', fullPage: true, clip })
      console.log(path)
    }
  }
}

try {
  await live(5)
  const overview = await open('light')
  await live(seconds - watchedSeconds)
  const key = await failingKey(overview)
  const keyPages = [await open('light'), await open('dark')]
  for (const page of keyPages) {
    await go(page, 'key', { queue: 'webhooks', key })
    await meanwhile(page.locator('.key-screen').waitFor())
  }
  await live(watchedSeconds)
  // It is most telling while it waits for its next try.
  for (let more = 0; more < 40; more += 1) {
    const state = await keyPages[0]?.locator('.key-state').textContent()
    if (state?.startsWith('backoff') === true) break
    await live(1)
  }
  mkdirSync(folderOfAll ?? images, { recursive: true })
  for (const [index, scheme] of schemes.entries()) {
    const page = keyPages[index] as Page
    if (folderOfAll !== undefined) {
      await shootAll(page, scheme, key, folderOfAll)
      continue
    }
    await go(page, 'queue', { queue: 'pods' })
    await meanwhile(page.locator('.key-grid tbody .row').first().waitFor())
    await shoot(page, 'queue', scheme, 1020)
  }
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
await browser.close()
await dashboard.close()
rmSync(folder, { recursive: true, force: true })
// The workers of the store wait on a clock that is no longer advanced.
process.exit()
