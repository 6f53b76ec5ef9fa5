import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { needs } from './index.ts'

function found(): string | undefined {
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
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

/** Where the browser of this machine is. */
export const chromiumPath: string | undefined = found()

/** Whether a browser is installed. */
export const hasChromium: boolean = needs('Chromium', chromiumPath !== undefined)
