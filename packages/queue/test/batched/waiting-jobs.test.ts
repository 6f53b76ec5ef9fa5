import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BatchJob } from '../../src/batched/batch-job.ts'
import { type BatchLimits, type BatchRules, WaitingJobs } from '../../src/batched/waiting-jobs.ts'

type Job = BatchJob<number, string>

const noAnswers = { resolve: () => undefined, reject: () => undefined }

function job(key: string, kind = 'add', size = 1): Job {
  return new BatchJob(kind, key, size, noAnswers, 0, Infinity)
}

const limits = { batchKeys: 100, batchBytes: Infinity }
const apart: BatchRules<number, string> = {
  sizeOf: (size) => size,
  orderedAt: () => undefined,
  merge: () => undefined,
}
/** The size of a job stands for its priority. */
const ordered: BatchRules<number, string> = { ...apart, orderedAt: (size) => size }
const merging: BatchRules<number, string> = { ...apart, merge: () => (reply) => reply }

/** The jobs of the next batch of some that wait, and those that are left. */
function nextBatch(
  waiting: readonly Job[],
  busy: ReadonlySet<string>,
  most: BatchLimits,
  rules: BatchRules<number, string>,
): { readonly jobs: readonly Job[]; readonly left: readonly Job[] } {
  const all = new WaitingJobs<number, string>()
  for (const each of waiting) all.add(each)
  const jobs = all.takeBatch(busy, most, rules)
  return { jobs, left: all.all() }
}

describe('the next batch', () => {
  test('has jobs of one kind; later ones of their keys and those of other kinds are left', () => {
    const [a, b, again, other, c] = [job('a'), job('b'), job('a'), job('x', 'forget'), job('c')]
    const { jobs, left } = nextBatch([a, b, again, other, c], new Set(), limits, apart)
    expect(jobs).toEqual([a, b, c])
    expect(left).toEqual([again, other])
  })

  test('has no ordered job that comes after one that waits for another of its key', () => {
    const [a, again, b] = [job('a'), job('a'), job('b')]
    const { jobs, left } = nextBatch([a, again, b], new Set(), limits, ordered)
    expect(jobs).toEqual([a])
    expect(left).toEqual([again, b])
  })

  test('has ordered jobs of another priority than those that wait', () => {
    const [a, raised, b, high] = [job('a'), job('a', 'add', 2), job('b'), job('c', 'add', 2)]
    const { jobs, left } = nextBatch([a, raised, b, high], new Set(), limits, ordered)
    expect(jobs).toEqual([a, b])
    expect(left).toEqual([raised, high])
  })

  test('has a job that is merged, which takes no turn of its own', () => {
    const [a, c, again, b, last] = [job('a'), job('c'), job('a'), job('b'), job('c')]
    const rules: typeof ordered = {
      ...ordered,
      merge: ({ key }) => (key === 'c' ? (reply) => reply : undefined),
    }
    const { jobs, left } = nextBatch([a, c, again, b, last], new Set(), limits, rules)
    expect(jobs).toEqual([a, c])
    expect(left).toEqual([again, b])
  })

  test('has ordered jobs that come after one whose key is busy: an answer may take long', () => {
    const [a, b] = [job('a'), job('b')]
    expect(nextBatch([a, b], new Set(['a']), limits, ordered).jobs).toEqual([b])
  })

  test('leaves jobs of keys that are busy', () => {
    const [a, b] = [job('a'), job('b')]
    const { jobs, left } = nextBatch([a, b], new Set(['a']), limits, apart)
    expect(jobs).toEqual([b])
    expect(left).toEqual([a])
  })

  test('merges jobs of one key, but none behind one that is left', () => {
    const [first, second, other, third] = [job('a'), job('a'), job('a', 'forget'), job('a')]
    const { jobs, left } = nextBatch([first, second, other, third], new Set(), limits, merging)
    expect(jobs).toEqual([first])
    expect(first.followers?.map((follower) => follower.job)).toEqual([second])
    expect(left).toEqual([other, third])
  })

  test('ends with the job that reaches a limit', () => {
    const jobs = ['a', 'b', 'c', 'd'].map((key) => job(key, 'add', 10))
    const byKeys = nextBatch(jobs, new Set(), { batchKeys: 3, batchBytes: Infinity }, apart)
    expect([byKeys.jobs.length, byKeys.left.length]).toEqual([3, 1])
    const byBytes = nextBatch(jobs, new Set(), { batchKeys: 100, batchBytes: 11 }, apart)
    expect([byBytes.jobs.length, byBytes.left.length]).toEqual([2, 2])
  })

  test('and those after it keep every job, and the order of each key', () => {
    const calls = fc.array(fc.record({ key: fc.constantFrom(...'abcd'), isAdd: fc.boolean() }))
    fc.assert(
      fc.property(calls, fc.integer({ min: 1, max: 4 }), (made, batchKeys) => {
        const all = made.map(({ key, isAdd }) => job(key, isAdd ? 'add' : 'forget'))
        const sent: Job[] = []
        const waiting = new WaitingJobs<number, string>()
        // Some jobs come while others are sent.
        const [...coming] = all
        while (coming.length > 0 || waiting.size > 0) {
          for (const each of coming.splice(0, 5)) waiting.add(each)
          const before = waiting.size
          const jobs = waiting.takeBatch(new Set(), { ...limits, batchKeys }, apart)
          expect(jobs.length).toBeGreaterThan(0)
          expect([waiting.size, waiting.all().length]).toEqual(Array(2).fill(before - jobs.length))
          expect(new Set(jobs.map(({ key }) => key)).size).toBe(jobs.length)
          expect(new Set(jobs.map(({ kind }) => kind)).size).toBe(1)
          sent.push(...jobs)
        }
        for (const key of 'abcd') {
          const of = (some: readonly Job[]): Job[] => some.filter((each) => each.key === key)
          expect(of(sent)).toEqual(of(all))
        }
      }),
    )
  })
})
