/**
 * One of several processes that add keys to one file and work on them at the same time.
 *
 * Reports to its parent how its calls went: every add with the moment at which it was asked for,
 * every run with the moment at which it began, and how long calls took. That a key is worked on by
 * one process at a time is witnessed outside of the store, by files that can be made only once.
 */
import { closeSync, openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Claim } from '@sluice/core'
import { sqliteDriver } from '@sluice/sqlite'

const [, , file = '', witness = '', nameText = '0', manyText = '8', keysText = '20000'] =
  process.argv
const name = Number(nameText)
const many = Number(manyText)
const keysMax = Number(keysText)
let state = name + 1

function random(n: number): number {
  state = (state * 48_271) % 2_147_483_647
  return state % n
}

/** The same for every process of this machine. */
function now(): number {
  return Number(process.hrtime.bigint() / 1_000n)
}

const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
const adds = new Map<string, number>()
const runs = new Map<string, number>()
const took: number[] = []
let overlaps = 0
let runCount = 0
let claimCount = 0

async function timed<T>(call: () => T | Promise<T>): Promise<T> {
  const startedAt = now()
  const value = await call()
  took.push(now() - startedAt)
  return value
}

const driver = sqliteDriver({ file, durability: 'process' })
await driver.open({})
let wake = (): void => {}
await driver.watch?.(() => wake())
let everyoneHasAdded = false
process.on('message', () => {
  everyoneHasAdded = true
  wake()
})

async function addSome(keys: readonly string[]): Promise<void> {
  const askedAt = now()
  await timed(() =>
    driver.add(
      'q',
      keys.map((key) => ({ key, item: undefined, priority: random(3), delayMs: 0 })),
      options,
    ),
  )
  for (const key of keys) adds.set(key, askedAt)
}

async function workSome(): Promise<boolean> {
  claimCount += 1
  const { claims, leaseEnds } = await timed(() =>
    driver.claim('q', {
      limit: 20,
      holder: `process ${name}`,
      claimId: `${name}/${claimCount}`,
      leaseMs: 60_000,
    }),
  )
  if (leaseEnds.length > 0) throw new Error('no lease ends here')
  const startedAt = now()
  for (const claim of claims) begin(claim, startedAt)
  for (const { key } of claims) unlinkSync(pathOf(key))
  if (claims.length === 0) return false
  const replies = await timed(() =>
    driver.finish(
      'q',
      claims.map(({ key, token }) => ({ as: 'done', key, token, forget: true })),
      options,
    ),
  )
  if (replies.some(({ outcome }) => outcome === 'lost')) throw new Error('a lease was lost')
  return true
}

function pathOf(key: string): string {
  return join(witness, key)
}

function begin({ key }: Claim, startedAt: number): void {
  try {
    closeSync(openSync(pathOf(key), 'wx'))
  } catch {
    overlaps += 1
  }
  runs.set(key, startedAt)
  runCount += 1
}

let next = name
while (next < keysMax) {
  const keys = new Set<string>()
  for (let index = 0; index < 10 && next < keysMax; index += 1) {
    keys.add(`key-${next}`)
    next += many
    // Three in ten are added again, by the process that has claimed them.
    if (random(10) < 3) keys.add(`key-${random(keysMax)}`)
  }
  await addSome([...keys])
  await workSome()
}
process.send?.({ hasAdded: true })

for (;;) {
  if (await workSome()) continue
  const { ready, processing, dirty } = await driver.counts('q', { cap: 100 })
  if (everyoneHasAdded && ready + processing + dirty === 0) break
  // Woken by what the others do; all of them have to end in the same way.
  await new Promise<void>((resolve) => {
    wake = resolve
    if (everyoneHasAdded) setImmediate(resolve)
  })
}
await driver.close()
took.sort((a, b) => a - b)
const account = {
  adds: [...adds],
  runs: [...runs],
  runCount,
  overlaps,
  calls: took.length,
  p99Ms: (took[Math.floor(took.length * 0.99)] ?? 0) / 1_000,
  longestMs: (took.at(-1) ?? 0) / 1_000,
}
// It is long; the process must not end before it has been sent.
process.send?.(account, () => process.disconnect?.())
