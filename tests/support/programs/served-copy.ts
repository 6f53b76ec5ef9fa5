/** A changed copy of the SQLite driver on a file, for a process that examines it from outside. */
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { serveDriver } from '@sluice/conformance/other-process'

const [, , module = '', file = ''] = process.argv
const { sqliteDriver } = await import(pathToFileURL(module).href)

serveDriver(sqliteDriver({ file }), process)
