import { beforeAll, describe, expect, it } from 'vitest'
import { visible } from '../client/src/text/visible-text.ts'
import { hasChromium } from './browser/chromium.ts'
import { hostile } from './browser/hostile.ts'
import { serve } from './browser/served.ts'
import { startBrowser } from './browser/stage.ts'
import { overview, Visit } from './browser/visit.ts'

/** Elements that the page itself never makes: any of them came from a text. */
const foreign =
  'main img, main iframe, main object, main math, main style, main script, main base, main meta, ' +
  'main link, main form[action], a[href^="javascript" i], a[href^="data" i], [onerror], [onload]'

describe.skipIf(!hasChromium)('texts of strangers', { timeout: 300_000 }, () => {
  const stage = startBrowser()
  const { stores } = stage
  let visit: Visit

  beforeAll(async () => {
    const driver = stores.sqlite()
    for (const name of hostile) await stores.queue(driver, name).add(name)
    const queue = stores.queue(driver, 'all of them')
    for (const text of hostile) {
      await queue.add(text)
      const held = await queue.get()
      await held?.retry(
        Object.assign(new Error(text), {
          name: text,
          code: text,
          stack: `${text}\n    at ${text}`,
        }),
      )
    }
    await queue.addMany(hostile.map((text) => ({ [text]: text })))
    // Nothing changes here, so reads can be rare.
    const served = await serve({ driver, storeName: hostile[1] as string, tickMs: 1_000 })
    stores.closing(() => served.stop())
    visit = await Visit.begin(stage.browser, served)
  })

  const nothingHappened = async () => {
    expect(visit.problems).toEqual([])
    expect(await visit.count(foreign)).toBe(0)
    expect(new URL(visit.page.url()).origin).toBe(new URL(visit.served.url).origin)
  }

  it('number forty', () => {
    expect(new Set(hostile).size).toBe(40)
  })

  it('are texts as names of queues', async () => {
    await visit.go(overview)
    await visit.until(() => visit.count('.overview .row'), hostile.length + 1)
    const names = await visit.page
      .locator('.overview .name-cell .name')
      .evaluateAll((all) => all.map((name) => name.getAttribute('title')))
    expect(names.toSorted()).toEqual(
      [...hostile, 'all of them'].map((name) => visible(name, 600)).toSorted(),
    )
    for (const name of hostile) {
      await visit.go({ at: 'queue', queue: name, keys: {}, cursors: [] })
      await visit.until(() => visit.count('.key-grid tbody .row'), 1)
    }
    await nothingHappened()
  })

  it('are texts as keys, errors and codes in lists', async () => {
    await visit.go({ at: 'queue', queue: 'all of them', keys: {}, cursors: [] })
    await visit.until(() => visit.count('.key-grid tbody .row'), hostile.length * 2)
    await visit.page.locator('.failure').first().waitFor()
    await nothingHappened()
    await visit.page.getByLabel('Error code').fill('<img src=x onerror=alert(2)>')
    await visit.until(() => visit.count('.key-grid tbody .row'), 1)
    await visit.page.getByRole('button', { name: 'Remove …' }).click()
    await visit.reads('dialog', /1 key matches: with the error code <img/)
    await visit.page.keyboard.press('Escape')
    await nothingHappened()
  })

  it.each(hostile.map((text) => [text]))('are texts on the page of a key: %j', async (text) => {
    await visit.go({ at: 'key', queue: 'all of them', key: text })
    await visit.page.locator('.errors .error').waitFor()
    await visit.page.click('.errors summary')
    const shown = await visit.page.locator('h1 .visible').evaluate((heading) => heading.textContent)
    expect(shown).toBe(visible(text).replace(/[⟨⟩]/g, ''))
    await visit.page.getByRole('button', { name: 'Copy the key' }).click()
    await visit.until(() => visit.page.evaluate(() => navigator.clipboard.readText()), text)
    await nothingHappened()
    const key = `json:${JSON.stringify({ [text]: text })}`
    await visit.go({ at: 'key', queue: 'all of them', key })
    await visit.page.click('text=show the item')
    await visit.page.locator('.json-name', { hasText: /^"item"$/ }).waitFor()
    await nothingHappened()
  })

  it('show their invisible characters in the title and in names for screen readers', async () => {
    await visit.go({ at: 'queue', queue: 'all of them', keys: { prefix: '\u202e' }, cursors: [] })
    const box = visit.page.getByRole('checkbox', { name: 'Select ⟨U+202E⟩gpj.exe' })
    await visit.until(() => box.count(), 1)
    await visit.go({ at: 'key', queue: 'all of them', key: '\u202egpj.exe' })
    await visit.until(() => visit.page.title(), '⟨U+202E⟩gpj.exe · all of them · Sluice')
  })

  it('confirm that a queue is emptied when they are typed as they are shown', async () => {
    await visit.go({ at: 'queue', queue: 'line\nbreak\r\n\ttab', keys: {}, cursors: [] })
    await visit.page.getByRole('button', { name: 'Purge' }).click()
    const yes = visit.page.locator('dialog .danger')
    const isOff = () => yes.getAttribute('aria-disabled')
    await visit.page.locator('dialog input').fill('line\\nbreak')
    await visit.until(isOff, 'true')
    await visit.page.locator('dialog input').fill('line\\nbreak\\r\\n\\ttab')
    await visit.until(isOff, 'false')
    await visit.page.keyboard.press('Escape')
  })

  it('are copied whole without the clipboard API, and the focus stays on the button', async () => {
    const { page } = visit
    const text = 'line\nbreak\r\n\ttab'
    await visit.go({ at: 'key', queue: 'all of them', key: text })
    await page.locator('.errors .error').waitFor()
    // It is there in secure contexts only; without them, nothing could read here what was copied.
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error('not a secure context'))
    })
    await page.getByRole('button', { name: 'Copy the key' }).press('Enter')
    await visit.until(() => page.evaluate(() => navigator.clipboard.readText()), text)
    const focused = await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    expect(focused).toBe('Copy the key')
    await page.evaluate(() => Reflect.deleteProperty(navigator.clipboard, 'writeText'))
  })

  it('would be noticed if they were more', async () => {
    // On a page of its own: the others would find what it leaves.
    const own = await Visit.begin(stage.browser, visit.served, overview, {})
    await own.page.evaluate(() => {
      const style = document.createElement('style')
      style.textContent = 'body { color: red }'
      document.body.append(style)
      const image = document.createElement('img')
      image.setAttribute('onerror', 'alert(1)')
      image.src = 'nowhere'
      document.querySelector('main')?.append(image)
    })
    await expect.poll(() => own.problems.join('\n')).toMatch(/Content Security Policy/)
    expect(await own.count(foreign)).toBeGreaterThan(0)
    await own.context.close()
  })
})
