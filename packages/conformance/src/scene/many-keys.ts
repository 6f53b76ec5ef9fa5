import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { batchKeysMax, type Claim, type KeyRow, type Lease } from '@sluice/core'
import type { Scene } from './scene.ts'

/** `count` keys in an order that is neither ascending nor descending. */
export function manyKeys(count: number, prefix = 'k'): string[] {
  // Steps of a prime that divides none of the counts in use reach every number once.
  return Array.from({ length: count }, (_, i) => `${prefix}${(i * 7_919) % count}`)
}

/** Splits a list into batches. */
export function inBatches<T>(all: readonly T[], size: number = batchKeysMax): (readonly T[])[] {
  const pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
    all.slice(i * size, (i + 1) * size),
  )
  return pieces
}

/** Adds keys in the largest batches. */
export async function addMany(
  s: Scene,
  keys: readonly string[],
  parts: Parameters<Scene['ask']>[1] = {},
): Promise<void> {
  for (const batch of inBatches(keys)) {
    await s.addAll(batch.map((key) => s.ask(key, parts)))
  }
}

/** Claims everything that is due, in batches of `limit`; every token is greater than all before. */
export async function claimMany(
  s: Scene,
  parts: { readonly limit?: number; readonly leaseMs?: number } = {},
): Promise<Claim[]> {
  const all: Claim[] = []
  for (;;) {
    const { claims } = await s.claim({ limit: batchKeysMax, ...parts })
    if (claims.length === 0) return all
    for (const claim of claims) {
      const last = all.at(-1)?.token ?? 0
      assert.ok(claim.token > last, `token ${claim.token} of ${claim.key} comes after ${last}`)
      all.push(claim)
    }
  }
}

/**
 * Asserts that two long lists are equal. Shows only the first difference: computing all of them takes
 * minutes for thousands of rows.
 */
export function assertSame<T>(actual: readonly T[], expected: readonly T[], what: string): void {
  const length = Math.max(actual.length, expected.length)
  for (let i = 0; i < length; i += 1) {
    if (isDeepStrictEqual(actual[i], expected[i])) continue
    const message = `${what}, number ${i} of ${actual.length}, where ${expected.length} are expected`
    assert.deepEqual(actual[i], expected[i], message)
    // Equal for `deepEqual`, and not strictly so.
    assert.fail(message)
  }
}

/** Asserts that `claims` are these keys, each once. */
export function assertKeys(
  claims: readonly { readonly key: string }[],
  keys: readonly string[],
): void {
  assertSame(claims.map(({ key }) => key).sort(), [...keys].sort(), 'keys')
}

/** Finishes everything with `done`. */
export async function doneMany(s: Scene, leases: readonly Lease[]): Promise<void> {
  for (const batch of inBatches(leases)) {
    const replies = await s.finishAll(
      batch.map(({ key, token }) => ({ as: 'done', key, token, forget: true })),
    )
    assert.ok(replies.every(({ outcome }) => outcome !== 'lost'))
  }
}

/** Every row of the queue, page by page. */
export async function listMany(
  s: Scene,
  request: Parameters<Scene['list']>[0] = {},
): Promise<KeyRow[]> {
  const rows: KeyRow[] = []
  let cursor: string | undefined
  do {
    const page = await s.list({ limit: batchKeysMax, ...request, ...(cursor && { cursor }) })
    assert.ok(
      page.rows.length <= (request.limit ?? batchKeysMax),
      'a page is not longer than its limit',
    )
    rows.push(...page.rows)
    cursor = page.cursor
  } while (cursor !== undefined)
  return rows
}

/** Asserts that a list has `count` elements, all equal to `expected`. */
export function assertAll<T>(all: readonly T[], expected: T, count: number): void {
  assert.equal(all.length, count, 'one answer for each')
  const other = all.findIndex((each) => each !== expected)
  assert.equal(other, -1, `answer ${other} is ${String(all[other])}, not ${String(expected)}`)
}
