/** Small pieces, one by one. */
import { SluiceError } from '@sluice/core'
import { expect, test } from 'vitest'
import { storeError } from '../../src/connection/errors.ts'
import { arrayLiteral } from '../../src/rows/array-literal.ts'
import { skipLocked } from '../../src/rows/skip-locked.ts'

test('arrays are written as Postgres reads them', () => {
  expect(arrayLiteral(['a', 'b"c', 'd\\e', 'f,{g}', '', 'NULL'])).toBe(
    '{"a","b\\"c","d\\\\e","f,{g}","","NULL"}',
  )
  expect(arrayLiteral([1, -0.5, Infinity, 1e300, null, undefined, true])).toBe(
    '{1,-0.5,Infinity,1e+300,NULL,NULL,true}',
  )
  expect(arrayLiteral([])).toBe('{}')
})

test.each([
  ['ECONNREFUSED', {}, 'unsent', 'ERR_STORE', true],
  ['ECONNRESET', {}, 'sent', 'ERR_UNKNOWN_OUTCOME', false],
  [undefined, {}, 'sent', 'ERR_UNKNOWN_OUTCOME', false],
  ['57P01', { severity: 'FATAL' }, 'sent', 'ERR_UNKNOWN_OUTCOME', false],
  ['57P01', { severity: 'FATAL' }, 'unsent', 'ERR_STORE', true],
  ['08006', { severity: 'FATAL' }, 'sent', 'ERR_UNKNOWN_OUTCOME', false],
  ['55P03', { severity: 'ERROR' }, 'sent', 'ERR_STORE_BUSY', true],
  ['40001', { severity: 'ERROR' }, 'sent', 'ERR_STORE', true],
  ['53100', { severity: 'ERROR' }, 'sent', 'ERR_STORE_FULL', true],
  ['25006', { severity: 'ERROR' }, 'sent', 'ERR_STORE', true],
  ['42501', { severity: 'ERROR' }, 'sent', 'ERR_STORE', false],
  ['XX001', { severity: 'ERROR' }, 'sent', 'ERR_STORE_DAMAGED', false],
] as const)('%s %o, %s, is %s', (code, more, progress, expected, retryable) => {
  const error = Object.assign(new Error('why'), { ...(code !== undefined && { code }), ...more })
  expect(storeError(error, progress)).toMatchObject({ code: expected, retryable, cause: error })
})

test('passwords do not get into messages', () => {
  const error = new Error('cannot connect to postgres://me:hush@host/db')
  expect(storeError(error, 'unsent').message).toContain('postgres://me:***@host')
})

test('what stays locked fails alone, and a store that fails fails', async () => {
  const busy = new SluiceError('ERR_STORE_BUSY', 'locked', { retryable: true })
  const served: string[][] = []
  const batch = {
    entries: ['a', 'b', 'c', 'd'],
    keyOf: (entry: string) => entry,
    async serve(entries: readonly string[]) {
      served.push([...entries])
      if (entries.includes('b') || served.length < 3) throw busy
      return entries.map((entry) => entry.toUpperCase())
    },
    findLocked: async () => new Set(served.length === 1 ? ['b'] : ['d']),
  }
  const replies = await skipLocked(batch)
  expect(replies).toMatchObject(['A', { outcome: 'failed' }, 'C', { outcome: 'failed' }])
  expect(served).toEqual([
    ['a', 'b', 'c', 'd'],
    ['a', 'c', 'd'],
    ['a', 'c'],
  ])
  const broken = { ...batch, serve: async () => Promise.reject(new Error('broken')) }
  await expect(skipLocked(broken)).rejects.toThrow('broken')
})
