import assert from 'node:assert/strict'
import { join } from 'node:path'
import { chromiumPath, hasChromium } from '@sluice/needs/chromium'
import { chromium } from 'playwright-core'
import { describe, test } from 'vitest'
import { bundle } from '../src/bundle.ts'
import { sameAnywhere } from './programs/same-anywhere.ts'

const program = join(import.meta.dirname, 'programs', 'same-anywhere.ts')

describe.skipIf(!hasChromium)('in a browser', () => {
  test('a queue and a worker in memory do what they do on Node', async () => {
    const { code } = await bundle(
      `import { sameAnywhere } from ${JSON.stringify(program)}
       globalThis.ran = sameAnywhere()`,
      'browser',
    )
    const browser = await chromium.launch({
      ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
      args: ['--no-sandbox'],
    })
    try {
      const page = await browser.newPage()
      const problems: string[] = []
      page.on('pageerror', (error) => problems.push(String(error)))
      page.on('console', (message) => problems.push(message.text()))
      await page.addScriptTag({ type: 'module', content: code })
      // A page that is not served by TLS: some parts of `crypto` are missing there.
      assert.equal(await page.evaluate('isSecureContext'), false)
      const seen = await page.evaluate('globalThis.ran')
      assert.deepEqual(problems, [])
      assert.deepEqual(seen, await sameAnywhere())
      assert.deepEqual((seen as unknown[]).slice(0, 3), ['added', 'unchanged', 'added'])
    } finally {
      await browser.close()
    }
  })
})
