import { SluiceError } from '@sluice/core'
import { expect, test } from 'vitest'
import { skipLocked } from '../../src/rows/skip-locked.ts'

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
  expect(replies[1]).toHaveProperty('error.message', expect.stringMatching(/key "b".*; end that/))
  expect(served).toEqual([
    ['a', 'b', 'c', 'd'],
    ['a', 'c', 'd'],
    ['a', 'c'],
  ])
  const broken = { ...batch, serve: async () => Promise.reject(new Error('broken')) }
  await expect(skipLocked(broken)).rejects.toThrow('broken')
})
