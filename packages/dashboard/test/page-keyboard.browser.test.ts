import { afterEach, describe, expect, it } from 'vitest'
import { hasChromium } from './browser/chromium.ts'
import { serve } from './browser/served.ts'
import { startBrowser } from './browser/stage.ts'
import { Visit } from './browser/visit.ts'

describe.skipIf(!hasChromium)('the keyboard', { timeout: 240_000 }, () => {
  const stage = startBrowser()
  const { stores } = stage

  afterEach(() => stores.closeAll())

  async function setUp(): Promise<Visit> {
    const driver = stores.sqlite()
    for (const name of ['alpha', 'beta', 'gamma']) {
      await stores.queue(driver, name).addMany(['k1', 'k2', 'k3'])
    }
    const served = await serve({ driver })
    stores.closing(() => served.stop())
    const visit = await Visit.begin(stage.browser, served)
    await visit.until(() => visit.count('.overview .row'), 3)
    return visit
  }

  const focused = (visit: Visit) => () =>
    visit.page.evaluate(() => {
      const row = document.activeElement?.closest<HTMLElement>('[data-row]')
      return row?.dataset['row'] ?? document.activeElement?.tagName
    })
  const at = (visit: Visit) => new URL(visit.page.url()).hash

  it('goes from row to row, opens one, and comes back to it', async () => {
    const visit = await setUp()
    const { keyboard } = visit.page
    await keyboard.press('j')
    await visit.until(focused(visit), 'alpha')
    await keyboard.press('j')
    await visit.until(focused(visit), 'beta')
    await keyboard.press('j')
    await keyboard.press('j')
    await visit.until(focused(visit), 'gamma')
    await keyboard.press('k')
    await visit.until(focused(visit), 'beta')
    await keyboard.press('Enter')
    await visit.reads('h1', 'beta')
    await visit.until(() => visit.count('.key-grid tbody .row'), 3)
    await keyboard.press('j')
    await keyboard.press('j')
    await visit.until(focused(visit), 'k2')
    await keyboard.press('Enter')
    await visit.reads('h1', 'k2')
    await visit.page.goBack()
    await visit.until(focused(visit), 'k2')
    await keyboard.press('Escape')
    await visit.reads('h1', 'All queues')
    expect(at(visit)).toBe('#/')
    await visit.end()
  })

  it('searches with a slash, and leaves the field with Esc', async () => {
    const visit = await setUp()
    const { keyboard } = visit.page
    await keyboard.press('/')
    await keyboard.type('jk/gam')
    await visit.reads('.overview + .none', /No queue has “jk\/gam”/)
    await keyboard.press('Control+A')
    await keyboard.type('GAM')
    await visit.until(() => visit.count('.overview .row'), 1)
    expect(at(visit)).toBe('#/?filter=GAM')
    await keyboard.press('Escape')
    await visit.until(focused(visit), 'BODY')
    await keyboard.press('j')
    await visit.until(focused(visit), 'gamma')
    await visit.end()
  })

  async function withFirstKeySelected(): Promise<Visit> {
    const visit = await setUp()
    const { keyboard } = visit.page
    await visit.go({ at: 'queue', queue: 'alpha', keys: {}, cursors: [] })
    await visit.until(() => visit.count('.key-grid tbody .row'), 3)
    await keyboard.press('j')
    await keyboard.press('x')
    return visit
  }

  it('ticks rows with x and acts on them without a mouse', async () => {
    const visit = await withFirstKeySelected()
    const { keyboard } = visit.page
    await keyboard.press('j')
    await keyboard.press('x')
    await visit.reads('.bulk-what', /^2 selected/)
    await visit.page.getByRole('button', { name: 'Park', exact: true }).focus()
    await keyboard.press('Enter')
    await visit.reads('dialog h2', 'Park: 2 keys')
    // Keys that are typed do not reach the page behind a dialog.
    await keyboard.press('p')
    await visit.page.getByRole('button', { name: 'Park 2 keys' }).focus()
    await keyboard.press('Enter')
    await visit.reads('.tile-parked', /parked \? 2/)
    await visit.reads('.freshness', /^live/)
    await visit.end()
  })

  it('pauses with p, helps with ?, and gives the focus back after a dialog', async () => {
    const visit = await setUp()
    const { keyboard } = visit.page
    await keyboard.press('p')
    await visit.reads('.freshness', /^paused/)
    await keyboard.press('p')
    await visit.reads('.freshness', /^(connecting|live)/)
    await keyboard.press('j')
    await keyboard.press('?')
    await visit.reads('dialog h2', 'Shortcuts and states')
    await visit.reads('dialog .shortcuts', /\/ search or filter j k next and previous row/)
    await keyboard.press('Escape')
    await visit.until(() => visit.count('dialog'), 0)
    await visit.until(focused(visit), 'alpha')
    await visit.end()
  })

  const focusedText = (visit: Visit) => () =>
    visit.page.evaluate(() => {
      const at = document.activeElement
      return at?.getAttribute('aria-label') ?? (at?.id || at?.textContent?.trim())
    })

  it('gives the focus back after an action that was confirmed, or cancelled', async () => {
    const visit = await setUp()
    const { keyboard } = visit.page
    await visit.go({ at: 'key', queue: 'alpha', key: 'k1' })
    await visit.page.getByRole('button', { name: 'Park', exact: true }).focus()
    await keyboard.press('Enter')
    await visit.page.getByRole('button', { name: 'Cancel' }).focus()
    await keyboard.press('Enter')
    await visit.until(focusedText(visit), 'Park')
    await keyboard.press('Enter')
    await visit.page.getByRole('button', { name: 'Park 1 key' }).focus()
    await keyboard.press('Enter')
    await visit.until(focusedText(visit), 'Unpark')
    await visit.end()
  })

  it('keeps a dialog open that is opened before the one before it has told that it was closed', async () => {
    const visit = await setUp()
    await visit.go({ at: 'key', queue: 'alpha', key: 'k1' })
    await visit.page.getByRole('button', { name: 'Park', exact: true }).press('Enter')
    await visit.reads('dialog h2', 'Park')
    const left = await visit.page.evaluate(async () => {
      const first = document.querySelector('dialog')
      const told = new Promise((resolve) => first?.addEventListener('close', resolve))
      const press = async (name: string) => {
        const all = [...document.querySelectorAll('button')]
        all.find(({ textContent }) => textContent === name)?.click()
        // The page is drawn again in a microtask, and no event comes before it.
        for (let turns = 0; turns < 20; turns += 1) await undefined
        return document.querySelectorAll('dialog').length
      }
      const open = [await press('Cancel'), await press('Park')]
      await told
      return [...open, document.querySelectorAll('dialog').length]
    })
    expect(left).toEqual([0, 1, 1])
    await visit.end()
  })

  it('focuses the part of the page in which the focused element was, once it has vanished', async () => {
    const visit = await withFirstKeySelected()
    const { keyboard } = visit.page
    await visit.page.getByRole('button', { name: 'Park', exact: true }).focus()
    await keyboard.press('Enter')
    await visit.page.getByRole('button', { name: 'Park 1 key' }).focus()
    await keyboard.press('Enter')
    await visit.until(focusedText(visit), 'Keys')
    await keyboard.press('j')
    await visit.until(focused(visit), 'k1')
    await keyboard.press('Enter')
    await visit.page.getByRole('button', { name: 'Remove' }).focus()
    await keyboard.press('Enter')
    await visit.page.getByRole('button', { name: 'Remove 1 key' }).focus()
    await keyboard.press('Enter')
    await visit.reads('.key-state', /^absent/)
    await visit.until(focusedText(visit), 'content')
    await visit.end()
  })

  it('announces a text again that was the last one', async () => {
    const visit = await setUp()
    await visit.go({ at: 'key', queue: 'alpha', key: 'k1' })
    const said = () => visit.page.locator('[aria-live=polite]').textContent()
    await visit.page.getByRole('button', { name: 'What does ready mean?' }).press('Enter')
    await visit.until(
      async () => (await said())?.trim(),
      'ready: A run is pending, and a worker can take it now.',
    )
    const first = await said()
    await visit.page.keyboard.press('Escape')
    await visit.page.getByRole('button', { name: 'What does ready mean?' }).press('Enter')
    await visit.until(async () => (await said()) !== first, true)
    expect((await said())?.trim()).toBe(first?.trim())
    await visit.end()
  })

  it('announces the result of a search and of a count, and not each part of them', async () => {
    const visit = await setUp()
    const { page } = visit
    const wholeAgain = Promise.withResolvers<void>()
    // The first part finds nothing, and the second one is late.
    await page.route(/api.(keys|matching)\?.*failuresMin/, async (route) => {
      const response = await route.fetch()
      if (new URL(route.request().url()).searchParams.has('cursor')) {
        await wholeAgain.promise
        await route.fulfill({ json: { at: 0, keys: [], count: 2, lookedAt: 5, capped: false } })
      } else {
        const part = await response.json()
        await route.fulfill({ json: { ...part, keys: [], count: 0, lookedAt: 9, cursor: 'x' } })
      }
    })
    await visit.go({ at: 'queue', queue: 'alpha', keys: { failuresMin: 1 }, cursors: [] })
    const busy = (selector: string) => () => page.locator(selector).getAttribute('aria-busy')
    await visit.reads('.keys > .none', /^9 keys searched, 0 matches so far/)
    expect(await busy('.keys > .none')()).toBe('true')
    await page.getByRole('button', { name: 'Park …', exact: true }).click()
    await visit.reads('dialog p[role=status]', /Counting … 9 keys searched so far/)
    expect(await busy('dialog p[role=status]')()).toBe('true')
    wholeAgain.resolve()
    await visit.reads('dialog p[role=status]', /^2 keys match/)
    await visit.until(busy('dialog p[role=status]'), 'false')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await visit.end()
  })

  it('keeps the focus and the selected keys when another range is chosen', async () => {
    const visit = await withFirstKeySelected()
    const { keyboard } = visit.page
    await visit.reads('.bulk-what', /^1 selected/)
    for (const name of ['1 h', '24 h', '5 min']) {
      await visit.page.getByRole('button', { name, exact: true }).focus()
      await keyboard.press('Enter')
      await visit.reads('.chart-axis', `${name} ago`)
      expect(await visit.page.evaluate(() => document.activeElement?.textContent)).toBe(name)
      await visit.reads('.bulk-what', /^1 selected/)
    }
    await visit.end()
  })

  it('turns pages one at a time, with the list in sight and the focus on the button', async () => {
    const driver = stores.sqlite()
    const keys = Array.from({ length: 350 }, (_, index) => `k${1_000 + index}`)
    await stores.queue(driver, 'long').addMany(keys)
    const served = await serve({ driver })
    stores.closing(() => served.stop())
    const visit = await Visit.begin(stage.browser, served)
    await visit.go({ at: 'queue', queue: 'long', keys: {}, cursors: [] })
    await visit.until(() => visit.count('.key-grid tbody .row'), 100)
    let answer = (): void => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await visit.page.route(/api\/keys\?.*cursor=/, async (route) => {
      await held
      await route.continue()
    })
    const next = visit.page.getByRole('button', { name: 'Next page' })
    await next.focus()
    const scrolled = () => visit.page.evaluate(() => scrollY)
    const before = await scrolled()
    expect(before).toBeGreaterThan(0)
    await next.press('Enter')
    await visit.reads('.pages', 'page 2, from about 101')
    await visit.page.keyboard.press('Enter')
    answer()
    await visit.until(
      () => visit.page.locator('.key-grid tbody .row').first().getAttribute('data-row'),
      'k1100',
    )
    await visit.reads('.pages', 'page 2, from about 101')
    expect(await scrolled()).toBe(before)
    expect(await next.evaluate((button) => button === document.activeElement)).toBe(true)
    await visit.page.goBack()
    await visit.reads('.pages', '100 shown')
    await visit.end()
  })

  it('ignores shortcuts behind a dialog from the moment the dialog opens', async () => {
    const visit = await setUp()
    await visit.page.evaluate(() => {
      // Called before anything is shown and before any key is heard.
      const observer = new MutationObserver(() => {
        const dialog = document.querySelector('dialog')
        if (dialog === null) return
        observer.disconnect()
        document.body.dataset['modalAtOnce'] = String(dialog.matches(':modal'))
      })
      observer.observe(document.body, { childList: true, subtree: true })
    })
    await visit.page.keyboard.press('?')
    await visit.until(() => visit.count('dialog'), 1)
    expect(await visit.page.evaluate(() => document.body.dataset['modalAtOnce'])).toBe('true')
    await visit.end()
  })

  it('reaches everything with Tab, and always shows where it is', async () => {
    const visit = await setUp()
    await visit.go({ at: 'queue', queue: 'alpha', keys: {}, cursors: [] })
    await visit.until(() => visit.count('.key-grid tbody .row'), 3)
    await visit.page.keyboard.press('p')
    const seen: string[] = []
    for (let steps = 0; steps < 80; steps += 1) {
      await visit.page.keyboard.press('Tab')
      const { name, outline, isInView } = await visit.page.evaluate(() => {
        const element = document.activeElement as HTMLElement
        if (element === document.body) return { name: '', outline: '', isInView: true }
        const box = element.getBoundingClientRect()
        const label = (element as HTMLInputElement).labels?.[0]?.textContent
        return {
          name: element.getAttribute('aria-label') ?? label ?? element.textContent ?? '',
          outline: getComputedStyle(element).outlineStyle,
          isInView: box.bottom > 0 && box.top < innerHeight && box.width > 0,
        }
      })
      // Past the last one.
      if (name === '') break
      seen.push(name)
      expect(outline, `the outline of “${name}”`).toBe('solid')
      expect(isInView, `“${name}” in view`).toBe(true)
    }
    expect(seen[0]).toBe('Skip to the content')
    for (const name of ['Pause updates', 'Purge', 'What does dirty mean?', 'Select k2', 'k3']) {
      expect(seen).toContain(name)
    }
    await visit.end()
  })

  it('skips to the content', async () => {
    const visit = await setUp()
    await visit.page.keyboard.press('Tab')
    await visit.page.keyboard.press('Enter')
    await visit.until(focused(visit), 'MAIN')
    await visit.end()
  })
})
