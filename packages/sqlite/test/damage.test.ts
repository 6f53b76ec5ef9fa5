import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { SluiceError } from '@sluice/core'
import { examineStore, sqliteDriver } from '@sluice/sqlite'
import * as fc from 'fast-check'
import { test } from 'vitest'
import { scratchFile } from './scratch.ts'
import { ask, askOptions, claimRequest } from './store.ts'

const runs = Number(process.env['SLUICE_DAMAGE_RUNS'] ?? 60)
const pageBytes = 4_096

type Damage =
  | { readonly kind: 'flips'; readonly at: readonly number[]; readonly mask: number }
  | { readonly kind: 'zeroed page' | 'page of noise'; readonly page: number }
  | { readonly kind: 'cut'; readonly share: number }

const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({
    kind: fc.constant('flips' as const),
    at: fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), {
      minLength: 1,
      maxLength: 30,
    }),
    mask: fc.integer({ min: 1, max: 255 }),
  }),
  fc.record({
    kind: fc.constantFrom('zeroed page' as const, 'page of noise' as const),
    page: fc.nat(40),
  }),
  fc.record({
    kind: fc.constant('cut' as const),
    share: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
  }),
)

function damaged(whole: Buffer, how: Damage): Buffer {
  const bytes = Buffer.from(whole)
  if (how.kind === 'cut') return bytes.subarray(0, Math.ceil(bytes.length * how.share))
  if (how.kind === 'flips') {
    for (const at of how.at) {
      const index = Math.floor(at * bytes.length)
      bytes[index] = (bytes[index] ?? 0) ^ how.mask
    }
    return bytes
  }
  const start = (how.page % (bytes.length / pageBytes)) * pageBytes
  bytes.fill(how.kind === 'zeroed page' ? 0 : 0x5a, start, start + pageBytes)
  return bytes
}

/** Does a call, which may fail, but only in a way that says what it is. */
async function attempt<T>(call: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    assert.ok(SluiceError.is(error), String(error))
    assert.match(error.code, /^ERR_(STORE|SCHEMA|UNKNOWN|CLOSED)/)
    return undefined
  }
}

test('a damaged file answers rightly or says that it cannot', async () => {
  const file = scratchFile()
  const driver = sqliteDriver({ file, durability: 'process' })
  await driver.open({})
  const asks = Array.from({ length: 600 }, (_, index) => ({
    ...ask(`key-${index}`),
    item: JSON.stringify('x'.repeat(index % 50)),
    priority: index % 5,
  }))
  await driver.add('q', asks, askOptions)
  await driver.claim('q', claimRequest(50))
  await driver.close()
  const whole = readFileSync(file)

  await fc.assert(
    fc.asyncProperty(damage, async (how) => {
      const broken = scratchFile()
      writeFileSync(broken, damaged(whole, how))
      const store = sqliteDriver({ file: broken, durability: 'process' })
      await attempt(async () => {
        await store.open({})
      })
      await attempt(() => store.counts('q', { cap: 1_000 }))
      await attempt(() => store.list('q', { limit: 1_000 }))
      const reply = await attempt(() => store.claim('q', claimRequest(20)))
      for (const { key, token } of reply?.claims ?? []) {
        const finish = { as: 'done', key, token, forget: true } as const
        await attempt(() => store.finish('q', [finish], askOptions))
      }
      await attempt(() => store.add('q', [ask('key-1'), ask('new')], askOptions))
      await attempt(() => store.tick('q', { holder: 'h', limit: 10, failuresExpireMs: 1_000 }))
      await store.close()
      await attempt(() => examineStore({ file: broken }))
    }),
    { numRuns: runs },
  )
}, 120_000)
