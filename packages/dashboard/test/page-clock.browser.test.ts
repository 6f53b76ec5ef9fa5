import { describe, expect, it } from 'vitest'
import { hasChromium } from './browser/chromium.ts'
import { serve } from './browser/served.ts'
import { startBrowser } from './browser/stage.ts'
import { ordersPage, Visit } from './browser/visit.ts'

describe.skipIf(!hasChromium)('the clock of the browser', { timeout: 240_000 }, () => {
  const stage = startBrowser()
  const { stores } = stage

  it('may be set back by hours: the list of keys is still read again', async () => {
    const driver = stores.sqlite()
    const queue = stores.queue(driver, 'orders')
    await queue.add('before')
    const served = await serve({ driver })
    stores.closing(() => served.stop())
    const visit = await Visit.begin(stage.browser, served, ordersPage)
    await visit.page.locator('[data-row=before]').waitFor()
    await visit.page.evaluate(() => {
      const { now } = Date
      Date.now = () => now() - 3 * 3_600_000
    })
    await queue.add('after')
    await visit.until(() => visit.count('[data-row=after]'), 1)
    expect(await visit.count('.key-grid tbody .row')).toBe(2)
    await visit.end()
  })
})
