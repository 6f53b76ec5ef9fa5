import { type PostgresServer, startPostgres } from '@sluice/test-postgres'
import type { Browser } from 'playwright-core'
import type { Driver } from 'sluice'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { startChromium } from './chromium.ts'
import { Stores } from './stores.ts'

/** What tests of pages share. */
export interface Stage {
  /** There once the tests have begun. */
  readonly browser: Browser
  readonly stores: Stores
}

/** A browser, and stores that last as long, for the tests of the suite in which it is called. */
export function startBrowser(): Stage {
  let browser: Browser
  const stores = new Stores()
  beforeAll(async () => {
    browser = await startChromium()
  })
  afterAll(async () => {
    await stores.dispose()
    await browser.close()
  })
  return {
    get browser() {
      return browser
    },
    stores,
  }
}

/** The same with a Postgres, for tests over each kind of store; the stores end with each test. */
export function startStage() {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.dispose())
  const stage = startBrowser()
  afterEach(() => stage.stores.closeAll())
  const kinds: readonly [string, () => Driver][] = [
    ['SQLite', () => stage.stores.sqlite()],
    ['Postgres', () => stage.stores.postgres(postgres)],
  ]
  return { stage, kinds }
}
