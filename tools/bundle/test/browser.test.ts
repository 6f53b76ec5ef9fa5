import assert from 'node:assert/strict'
import { join } from 'node:path'
import { chromiumPath, hasChromium } from '@sluice/needs/chromium'
import { chromium, type Page } from 'playwright-core'
import { describe, test } from 'vitest'
import { bundle, bundleSplit, substitute } from '../src/bundle.ts'
import { sameAnywhere } from './programs/same-anywhere.ts'

const program = join(import.meta.dirname, 'programs', 'same-anywhere.ts')

const start = `import { sameAnywhere } from ${JSON.stringify(program)}
  globalThis.ran = sameAnywhere()`

/** Calls `look` with an empty page, and with what goes wrong on it. */
async function onPage(look: (page: Page, problems: string[]) => Promise<void>): Promise<void> {
  const browser = await chromium.launch({
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    args: ['--no-sandbox'],
  })
  try {
    const page = await browser.newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(String(error)))
    page.on('console', (message) => problems.push(message.text()))
    await look(page, problems)
  } finally {
    await browser.close()
  }
}

/** What the program in a script came to. A module starts after the call that adds it has returned. */
async function run(page: Page, script: { content?: string; url?: string }): Promise<unknown> {
  const failed = page.waitForEvent('pageerror')
  const ran = page.waitForFunction('globalThis.ran !== undefined')
  await Promise.all([page.addScriptTag({ type: 'module', ...script }), Promise.race([ran, failed])])
  return await page.evaluate('globalThis.ran')
}

test('bundlers for browsers find no name that only Node has', async () => {
  const { code } = await bundle("export * from 'sluice'", 'browser')
  assert.ok(!code.includes(substitute))
})

describe.skipIf(!hasChromium)('in a browser', () => {
  test('a queue and a worker in memory do what they do on Node', async () => {
    const { code } = await bundle(start, 'browser')
    await onPage(async (page, problems) => {
      // A page that is not served by TLS: some parts of `crypto` are missing there.
      assert.equal(await page.evaluate('isSecureContext'), false)
      const seen = await run(page, { content: code })
      assert.deepEqual(problems, [])
      assert.deepEqual(seen, await sameAnywhere())
      assert.deepEqual((seen as unknown[]).slice(0, 3), ['added', 'unchanged', 'added'])
    })
  })

  test('they do so when the page fetches what it needs when it needs it', async () => {
    const { code, first, main } = await bundleSplit(start)
    const fetched: string[] = []
    await onPage(async (page, problems) => {
      await page.route('http://sluice.test/**', (route) => {
        const name = new URL(route.request().url()).pathname.slice(1)
        const body = code.get(name)
        if (body === undefined) {
          const html = '<!doctype html><link rel="icon" href="data:,">'
          return route.fulfill({ contentType: 'text/html', body: html })
        }
        fetched.push(name)
        return route.fulfill({ contentType: 'text/javascript', body })
      })
      await page.goto('http://sluice.test/')
      const seen = await run(page, { url: `/${main}` })
      assert.deepEqual(problems, [])
      assert.deepEqual(seen, await sameAnywhere())
    })
    const [before, after] = [fetched.slice(0, first.length), fetched.slice(first.length)]
    assert.deepEqual(before.toSorted(), first.toSorted())
    assert.ok(after.length > 0, 'everything was fetched at first')
  })
})
