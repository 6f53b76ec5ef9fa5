// The tables in a browser: a page fetches them when it opens its first driver.
import { SluiceError } from '@sluice/core'
import type * as present from '../load-tables.ts'

/** There once {@link loadTables} has resolved. */
export let tables: typeof present.tables

/** Gets the tables; `undefined` if they are there. */
export const loadTables: typeof present.loadTables = () => {
  return tables === undefined ? fetchTables() : undefined
}

async function fetchTables(): Promise<void> {
  try {
    tables = await import('../tables.ts')
  } catch (cause) {
    throw new SluiceError(
      'ERR_STORE',
      'cannot load the tables of the memory driver; check that all files of the program can still ' +
        'be read',
      { cause, retryable: true },
    )
  }
}
