import { chromiumPath } from '@sluice/needs/chromium'
import { type Browser, chromium } from 'playwright-core'

export { hasChromium } from '@sluice/needs/chromium'

/** Starts the browser of this machine, with further arguments. */
export async function startChromium(...args: readonly string[]): Promise<Browser> {
  return await chromium.launch({
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    args: [
      // Chromium's sandbox does not start for root in a container; the pages shown here are trusted.
      '--no-sandbox',
      '--force-color-profile=srgb',
      // Otherwise each visit starts a process: a third of the processor time of opening a page.
      '--renderer-process-limit=1',
      ...args,
    ],
  })
}
