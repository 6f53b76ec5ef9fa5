import {
  type Case,
  type CreateSubject,
  failureText,
  type QueueFactories,
  queueCases,
  type RunOptions,
  runCases,
  type Subject,
} from '../../packages/conformance/src/index.ts'
import { fakeClock } from '../../packages/core/src/testing/index.ts'
import { memoryDriver } from '../../packages/memory/src/index.ts'
import {
  createDelayingQueue,
  createQueue,
  createRateLimitingQueue,
  createWorker,
} from '../../packages/queue/src/index.ts'

/** What has become of the cases of a suite. */
export interface Examined {
  readonly failures: readonly string[]
  readonly passed: number
  readonly skipped: number
}

/** Runs the suite of the drivers, or other cases. */
export async function examined(
  create: CreateSubject,
  options: RunOptions & { readonly cases?: readonly Case[] } = {},
): Promise<Examined> {
  const failures: string[] = []
  let [passed, skipped] = [0, 0]
  const usual = { timeoutMs: 60_000, chance: { modelRuns: 20, histories: 3 } }
  for await (const result of runCases(create, { ...usual, ...options })) {
    if (result.verdict === 'failed') failures.push(failureText(result))
    else if (result.verdict === 'skipped') skipped += 1
    else passed += 1
  }
  return { failures, passed, skipped }
}

const factories = {
  createQueue,
  createDelayingQueue,
  createRateLimitingQueue,
  createWorker,
} as unknown as QueueFactories

/** The driver in memory, and the queues and workers of `sluice` on it. */
export async function examinedInMemory(): Promise<Examined> {
  const inMemory = (): Subject => ({ driver: memoryDriver(), clock: fakeClock() })
  const driver = await examined(inMemory)
  const queue = await examined(inMemory, { cases: queueCases(factories) })
  return {
    failures: [...driver.failures, ...queue.failures],
    passed: driver.passed + queue.passed,
    skipped: driver.skipped + queue.skipped,
  }
}

/** What failed, and one line of counts. */
export function report({ failures, passed, skipped }: Examined): string {
  const counts = `${passed} passed, ${failures.length} failed, ${skipped} skipped`
  return [...failures, counts].join('\n')
}
