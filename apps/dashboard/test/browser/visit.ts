import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Place } from '../../client/src/place.ts'
import { hashOf } from '../../client/src/place.ts'
import type { Served } from './served.ts'

/** Somebody in front of a page; whatever goes wrong there is kept. */
export class Visit {
  readonly page: Page
  readonly context: BrowserContext
  readonly served: Served
  /** Dialogs, errors, and what the policy of the page did not allow. */
  readonly problems: string[] = []
  /** Problems that the test itself makes, such as a server that is away. */
  readonly expected: RegExp[] = []

  private constructor(context: BrowserContext, page: Page, served: Served) {
    this.context = context
    this.page = page
    this.served = served
    page.on('pageerror', (error) => this.problems.push(`error: ${error.message}`))
    page.on('dialog', (dialog) => {
      this.problems.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') {
        this.problems.push(`console: ${message.text()}`)
      }
    })
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url())
      if (protocol !== 'data:' && origin !== new URL(served.url).origin) {
        this.problems.push(`asked somebody else: ${request.url()}`)
      }
    })
  }

  /** Opens the page, signed in, at a place. */
  static async begin(
    browser: Browser,
    served: Served,
    place: Place = { at: 'overview', filter: '', order: 'worst' },
    options: BrowserContextOptions = {},
  ): Promise<Visit> {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const visit = new Visit(context, await context.newPage(), served)
    await visit.page.goto(served.signInUrl)
    await visit.page.locator('main .screen, main .empty').waitFor()
    await visit.go(place)
    return visit
  }

  /** Opens the page without signing in. */
  static async stranger(browser: Browser, served: Served, hash: string): Promise<Visit> {
    const context = await browser.newContext({ reducedMotion: 'reduce' })
    const visit = new Visit(context, await context.newPage(), served)
    await visit.page.goto(`${served.url}${hash}`)
    return visit
  }

  /** Goes to a place as by typing its address. */
  async go(place: Place): Promise<void> {
    await this.page.goto(`${this.served.url}${hashOf(place)}`)
    await this.page.locator('main .screen, main .empty').waitFor()
  }

  /** Waits until something on the page is so. */
  async until<T>(look: () => Promise<T>, wanted: T): Promise<void> {
    await expect.poll(look, { timeout: 45_000, interval: 30 }).toEqual(wanted)
  }

  /** Waits until a text stands somewhere. */
  async reads(selector: string, wanted: string | RegExp): Promise<void> {
    const text = async () =>
      (await this.page.locator(selector).allInnerTexts()).map(plain).join(' | ')
    await expect.poll(text, { timeout: 45_000, interval: 30 }).toMatch(wanted)
  }

  /** How many of something there are. */
  async count(selector: string): Promise<number> {
    return await this.page.locator(selector).count()
  }

  /** Ends the visit; nothing may have gone wrong. */
  async end(): Promise<void> {
    await this.context.close()
    const unexpected = this.problems.filter(
      (problem) => !this.expected.some((pattern) => pattern.test(problem)),
    )
    expect(unexpected).toEqual([])
  }
}

/** A text as one reads it: with one plain space between words. */
export function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
