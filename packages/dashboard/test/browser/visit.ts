import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  ConsoleMessage,
  Dialog,
  Page,
  Request,
} from 'playwright-core'
import { expect } from 'vitest'
import { shownForMs } from '../../client/src/live/notices.ts'
import type { PageLocation } from '../../client/src/location/location.ts'
import { hashOf } from '../../client/src/location/location.ts'
import type { Served } from './served.ts'

export const overview = { at: 'overview', filter: '', order: 'worst' } as const

/** The page of the queue `orders`. */
export const ordersPage = { at: 'queue', queue: 'orders', keys: {}, cursors: [] } as const

/**
 * Pages of earlier visits, reset to their initial state. The browser does not load and compile the
 * scripts of an address again.
 */
const idlePages = new WeakMap<Browser, Page[]>()

/** A browser in which notices stay until they are closed: a test that is held up would miss them. */
async function newContext(browser: Browser, options?: BrowserContextOptions) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  // As long as everything else is awaited: it only ends what hangs.
  context.setDefaultTimeout(120_000)
  await context.addInitScript((noticesMs) => {
    // real time: that of the page, of which nothing but a notice is given these times.
    globalThis.setTimeout = new Proxy(setTimeout, {
      apply: (start, self, args) =>
        noticesMs.includes(args[1]) ? 0 : Reflect.apply(start, self, args),
    })
  }, Object.values(shownForMs))
  return context
}

async function newPage(browser: Browser, options: BrowserContextOptions): Promise<Page> {
  const context = await newContext(browser, options)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  return await context.newPage()
}

/** A user's browser page; its errors are collected. */
export class Visit {
  readonly page: Page
  readonly context: BrowserContext
  readonly served: Served
  /** Dialogs, errors, and violations of the content security policy. */
  readonly problems: string[] = []
  /** Problems that the test itself makes, such as a server that is away. */
  readonly expected: RegExp[] = []
  /** Where the page goes after the visit. */
  readonly #idle: Page[] | undefined

  private constructor(page: Page, served: Served, idle?: Page[]) {
    this.page = page
    this.context = page.context()
    this.served = served
    this.#idle = idle
    page.on('pageerror', this.#onPageError)
    page.on('dialog', this.#onDialog)
    page.on('console', this.#onConsole)
    page.on('request', this.#onRequest)
  }

  readonly #onPageError = (error: Error): void => {
    this.problems.push(`error: ${error.message}`)
  }

  readonly #onDialog = (dialog: Dialog): void => {
    this.problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  }

  readonly #onConsole = (message: ConsoleMessage): void => {
    if (message.type() === 'error' || message.type() === 'warning') {
      this.problems.push(`console: ${message.text()}`)
    }
  }

  readonly #onRequest = (request: Request): void => {
    const { origin, protocol } = new URL(request.url())
    if (protocol !== 'data:' && origin !== new URL(this.served.url).origin) {
      this.problems.push(`asked somebody else: ${request.url()}`)
    }
  }

  /** Opens the page, signed in, at a place; with options, in a browser that knows nothing yet. */
  static async begin(
    browser: Browser,
    served: Served,
    place: PageLocation = overview,
    options?: BrowserContextOptions,
  ): Promise<Visit> {
    const idle = idlePages.get(browser) ?? []
    idlePages.set(browser, idle)
    const page = options === undefined ? idle.pop() : undefined
    const visit = new Visit(
      page ?? (await newPage(browser, options ?? {})),
      served,
      options === undefined ? idle : undefined,
    )
    await visit.page.goto(served.signInUrl)
    await visit.page.locator('main .screen, main .empty').waitFor()
    await visit.go(place)
    return visit
  }

  /** Opens the page without signing in. */
  static async stranger(browser: Browser, served: Served, hash: string): Promise<Visit> {
    const context = await newContext(browser)
    const visit = new Visit(await context.newPage(), served)
    await visit.page.goto(`${served.url}${hash}`)
    return visit
  }

  /** Goes to a place as by typing its address. */
  async go(place: PageLocation): Promise<void> {
    await this.page.goto(`${this.served.url}${hashOf(place)}`)
    await this.page.locator('main .screen, main .empty').waitFor()
  }

  /** Waits until something on the page is so. */
  async until<T>(look: () => Promise<T>, wanted: T): Promise<void> {
    await expect.poll(look, { interval: 100 }).toEqual(wanted)
  }

  /** Waits until a text stands somewhere. */
  async reads(selector: string, wanted: string | RegExp): Promise<void> {
    const text = async () =>
      (await this.page.locator(selector).allInnerTexts()).map(plain).join(' | ')
    await expect.poll(text, { interval: 100 }).toMatch(wanted)
  }

  /** How many of something there are. */
  async count(selector: string): Promise<number> {
    return await this.page.locator(selector).count()
  }

  /** Closes dialogs, and goes to the overview. */
  async tidy(): Promise<void> {
    const close = () =>
      this.page.evaluate(() => {
        for (const dialog of document.querySelectorAll('dialog')) dialog.close()
        for (const box of document.querySelectorAll<HTMLElement>(':popover-open')) box.hidePopover()
        for (const button of document.querySelectorAll<HTMLElement>('.notice button'))
          button.click()
        scrollTo(0, 0)
      })
    await close()
    await this.page.mouse.move(0, 0)
    await this.go(overview)
    // The notice of the last action may come late.
    const left = async () => {
      await close()
      return await this.count('dialog, .notice, .key-screen, .keys')
    }
    await this.until(left, 0)
  }

  /** Nothing may have gone wrong. */
  check(): void {
    const unexpected = this.problems.filter(
      (problem) => !this.expected.some((pattern) => pattern.test(problem)),
    )
    expect(unexpected).toEqual([])
  }

  /** Ends the visit; nothing may have gone wrong. */
  async end(): Promise<void> {
    if (this.#idle === undefined) await this.context.close()
    else await this.#leave()
    this.check()
    this.#idle?.push(this.page)
  }

  /** Leaves the page as it was when it was new. */
  async #leave(): Promise<void> {
    const { page, context } = this
    await page.mouse.move(0, 0)
    await page.evaluate(() => localStorage.clear())
    page.off('pageerror', this.#onPageError)
    page.off('dialog', this.#onDialog)
    page.off('console', this.#onConsole)
    page.off('request', this.#onRequest)
    await page.goto('about:blank')
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
    await context.clearCookies()
  }
}

/** A text as one reads it: with one plain space between words. */
export function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
