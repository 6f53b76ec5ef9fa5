/** A driver on a file, for a process that examines the driver from outside. */
import process from 'node:process'
import { serveDriver } from '@sluice/conformance/other-process'
import { type Durability, type LibraryName, sqliteDriver } from '@sluice/sqlite'

const [, , library, durability, file = ''] = process.argv

serveDriver(
  sqliteDriver({
    file,
    library: library as LibraryName,
    durability: durability as Durability,
  }),
  process,
)
