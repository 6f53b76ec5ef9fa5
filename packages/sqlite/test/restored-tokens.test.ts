/** Fencing tokens of a file that does not know the last of them: a backup, or one that lost its last commits. */
import { renameSync } from 'node:fs'
import type { Driver } from '@sluice/core'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteDriver } from '../src/index.ts'
import { scratchFile } from './scratch.ts'
import { ask, askOptions, storeOn } from './store.ts'

/** Adds and claims a key. */
async function tokenOf(driver: Driver, key: string): Promise<number> {
  await driver.add('q', [ask(key)], askOptions)
  const request = { limit: 1, holder: 'holder', claimId: key, leaseMs: 60_000 }
  const { claims } = await driver.claim('q', request)
  return claims[0]?.token ?? Number.NaN
}

/** Resolves once the machine's clock shows a later instant, which takes a millisecond at most. */
async function nextInstant(): Promise<void> {
  const before = Date.now()
  await expect.poll(() => Date.now()).toBeGreaterThan(before)
}

test('a backup that takes the place of a file gives out none of its tokens again', async () => {
  const file = scratchFile()
  const first = sqliteDriver({ file })
  await first.open({})
  await tokenOf(first, 'before')
  const { library } = storeOn(file)
  const other = library.open(file)
  other.exec(`vacuum into '${file}.backup'`)
  other.close()
  const tokens = [await tokenOf(first, 'a'), await tokenOf(first, 'b')]
  await first.close()
  await nextInstant()
  renameSync(`${file}.backup`, file)
  const next = sqliteDriver({ file })
  await next.open({})
  onTestFinished(() => next.close())
  expect(await tokenOf(next, 'c')).toBeGreaterThan(Math.max(...tokens))
})

test('a counter that was set back under an open connection gives out no token again', async () => {
  const file = scratchFile()
  const driver = sqliteDriver({ file })
  await driver.open({})
  onTestFinished(() => driver.close())
  const token = await tokenOf(driver, 'a')
  await nextInstant()
  const other = storeOn(file).library.open(file)
  other.exec(`update sluice_store set token = ${token - 1}`)
  other.close()
  expect(await tokenOf(driver, 'b')).toBeGreaterThan(token)
})

test('a counter that is beyond the present is not set back', async () => {
  const file = scratchFile()
  const maker = sqliteDriver({ file })
  await maker.open({})
  await maker.close()
  const other = storeOn(file).library.open(file)
  other.exec('update sluice_store set token = 9007199254740000')
  other.close()
  const driver = sqliteDriver({ file })
  await driver.open({})
  onTestFinished(() => driver.close())
  expect(await tokenOf(driver, 'a')).toBe(9007199254740001)
  expect(await tokenOf(driver, 'b')).toBe(9007199254740002)
})
