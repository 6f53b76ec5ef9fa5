/** Opens a file, and reports how that went. Stays until it is told to end. */
import { SluiceError } from '@sluice/core'
import { type LibraryName, sqliteDriver } from '@sluice/sqlite'

const [, , file = '', library] = process.argv
const driver = sqliteDriver({ file, library: library as LibraryName })
try {
  await driver.open({})
  process.send?.('open')
} catch (error) {
  if (!SluiceError.is(error)) throw error
  process.send?.({ code: error.code, retryable: error.retryable, message: error.message })
}
async function end(): Promise<void> {
  await driver.close()
  process.disconnect?.()
}
process.on('message', () => void end())
