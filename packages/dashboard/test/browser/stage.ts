import { type PostgresServer, startPostgres } from '@sluice/test-postgres'
import type { Browser } from 'playwright-core'
import type { Driver } from 'sluice'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { startChromium } from './chromium.ts'
import { Stores } from './stores.ts'

/** What tests of pages share: a browser, and the kinds of stores that the pages show. */
export interface Stage {
  /** There once the tests have begun. */
  readonly browser: Browser
  readonly stores: Stores
  readonly kinds: readonly [string, () => Driver][]
}

/** Starts a browser and a Postgres for the tests of the suite in which it is called. */
export function startStage(): Stage {
  let browser: Browser
  let postgres: PostgresServer
  const stores = new Stores()
  beforeAll(async () => {
    ;[browser, postgres] = await Promise.all([startChromium(), startPostgres()])
  })
  afterEach(() => stores.closeAll())
  afterAll(async () => {
    await stores.dispose()
    await browser.close()
    await postgres.dispose()
  })
  return {
    get browser() {
      return browser
    },
    stores,
    kinds: [
      ['SQLite', () => stores.sqlite()],
      ['Postgres', () => stores.postgres(postgres)],
    ],
  }
}
