import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** Runs a program in a process of its own, so that nothing else is on the heap. */
async function measure<Result>(program: string, ...args: string[]): Promise<Result> {
  const path = fileURLToPath(new URL(`./programs/${program}.ts`, import.meta.url))
  const flags = ['--expose-gc', '--experimental-strip-types', '--no-warnings']
  const command = [...flags, '--conditions=sluice-source', path, ...args]
  const { stdout } = await promisify(execFile)(process.execPath, command)
  return JSON.parse(stdout) as Result
}

test.each([
  ['1000000', 'longer', 65],
  // Just after arrays have doubled.
  ['1100000', 'longer', 90],
  // In a heap, since each is due before the one that was added before it.
  ['1000000', 'shorter', 85],
])(
  '%s keys, each with a %s delay, cost at most %i bytes each beyond their texts',
  async (count, order, bytesMax) => {
    const { bytesPerKey } = await measure<{ bytesPerKey: number }>('heap-of-delayed', count, order)
    expect(bytesPerKey).toBeGreaterThan(50)
    expect(bytesPerKey).toBeLessThanOrEqual(bytesMax)
  },
)

test('the heap is the same after 2, 6 and 10 million keys', async () => {
  const { heaps } = await measure<{ heaps: number[] }>('heap-after-cycles')
  expect(Math.max(...heaps) - Math.min(...heaps)).toBeLessThanOrEqual(1_000_000)
})

test('names of queues that were used once leave nothing behind', async () => {
  const measured = await measure<{ heaps: number[]; queues: string[] }>('heap-of-names')
  const [early = 0, late = 0] = measured.heaps
  // 190 MB if they stayed. A few hundred unused ones are kept until the next look for them.
  expect(late - early).toBeLessThanOrEqual(6_000_000)
  expect(measured.queues.sort()).toEqual(['full', 'kept', 'paused'])
})
