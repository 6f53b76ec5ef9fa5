import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { needs } from '@sluice/needs'
import { type Browser, chromium } from 'playwright-core'

function found(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

const executablePath = found()

/** Whether a browser is installed. */
export const hasChromium: boolean = needs('Chromium', executablePath !== undefined)

/** Starts the browser of this machine. */
export async function startChromium(): Promise<Browser> {
  return await chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    // Chromium's sandbox does not start for root in a container; the pages shown here are trusted.
    args: ['--no-sandbox', '--force-color-profile=srgb'],
  })
}
