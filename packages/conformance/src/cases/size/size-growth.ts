import assert from 'node:assert/strict'
import { batchKeysMax } from '@sluice/core'
import type { Case } from '../../case.ts'
import {
  assertKeys,
  claimMany,
  doneMany,
  inBatches,
  listMany,
  manyKeys,
} from '../../scene/many-keys.ts'

/** Stores that grow, and in which keys are added and finished all the time. */
export const sizeGrowthCases: readonly Case[] = [
  {
    id: 'size.grow',
    title: 'the rows of the first keys stay unchanged while thousands of others are added',
    async run(s) {
      const keys = manyKeys(5_000)
      const number = (key: string): number => Number(key.slice(1))
      const asked = (key: string) => {
        const i = number(key)
        return s.ask(key, { item: `"item of ${key}"`, priority: i % 5, delayMs: i % 3 })
      }
      // A few keys of each kind at first, so that every growth of a table has to move them.
      const [few, rest] = [keys.slice(0, 50), keys.slice(50)]
      await s.addAll(few.map(asked))
      await s.step(2)
      const failed = (await claimMany(s)).slice(0, 20)
      await s.finishAll(
        failed.map(({ key, token }) => {
          return { as: 'retry', key, token, delayMs: 7, error: `error of ${key}` }
        }),
      )
      const twice = new Set(failed.map(({ key }) => key))
      // A second run, in addition to the delayed one.
      await s.addAll([...twice])
      for (const batch of inBatches(rest)) await s.addAll(batch.map(asked))
      const rows = await listMany(s)
      assertKeys(rows, keys)
      for (const { key, item, lastError, laterAt, failures } of rows) {
        const isTwice = twice.has(key)
        assert.equal(lastError, isTwice ? `error of ${key}` : undefined, key)
        assert.equal(laterAt, isTwice ? s.now() + 7 : Infinity, key)
        assert.equal(failures, isTwice ? 1 : 0, key)
        if (!isTwice) assert.equal(item, `"item of ${key}"`)
      }
      await s.step(2)
      const claims = await claimMany(s)
      assertKeys(claims, [...rest, ...twice])
      for (const { key, item, priority } of claims.filter((claim) => !twice.has(claim.key))) {
        assert.equal(item, `"item of ${key}"`)
        assert.equal(priority, number(key) % 5, key)
      }
    },
  },
  {
    id: 'size.come-and-go',
    title: 'a store in which thousands of keys are added and finished keeps the right ones',
    async run(s) {
      const kept = new Set<string>()
      for (let round = 0; round < 6; round += 1) {
        const fresh = manyKeys(batchKeysMax - 100, `r${round}/`)
        await s.addAll(fresh)
        for (const key of fresh) kept.add(key)
        const { claims } = await s.claim({ limit: 700 })
        assert.equal(claims.length, 700)
        await doneMany(s, claims)
        for (const { key } of claims) assert.ok(kept.delete(key), `${key} was handed out once`)
      }
      assertKeys(await listMany(s), [...kept])
      assertKeys(await claimMany(s), [...kept])
    },
  },
]
