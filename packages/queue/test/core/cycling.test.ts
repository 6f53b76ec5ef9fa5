import { describe, expect, test } from 'vitest'
import { run } from '../support/program.ts'

describe('keys that went through the queue leave nothing behind', () => {
  test('heap after 2, 6 and 10 million keys is within 1 MB, over direct', async () => {
    const { lines } = await run('cycling', 'direct', '2000000', '6000000', '10000000')
    const heaps = lines.map(Number)
    expect(heaps.length).toBe(3)
    expect(Math.max(...heaps) - Math.min(...heaps)).toBeLessThan(1_000_000)
  })

  test('and in batches', async () => {
    const { lines } = await run('cycling', 'batched', '40000', '80000', '120000')
    const heaps = lines.map(Number)
    expect(Math.max(...heaps) - Math.min(...heaps)).toBeLessThan(1_000_000)
  })
})
