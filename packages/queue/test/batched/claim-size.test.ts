import type { ClaimRequest } from '@sluice/core'
import { expect, test } from 'vitest'
import { ClaimSize } from '../../src/batched/claims/claim-size.ts'
import { late, Scene, seen } from '../support/setups.ts'

test('a claim whose keys arrived late makes the next ones as large as arrives in time', () => {
  const size = new ClaimSize(6_000)
  size.note(2_000, 100)
  expect(size.max).toBe(1_000)
  size.note(10_000, 100)
  expect(size.max).toBe(10)
  size.note(600_000, 10)
  expect(size.max).toBe(1)
})

test('claims become larger again while they are full and fast', () => {
  const size = new ClaimSize(6_000)
  size.note(10_000, 100)
  size.note(501, 10)
  size.note(100, 9)
  expect(size.max).toBe(10)
  size.note(500, 10)
  expect(size.max).toBe(20)
  for (const keys of [20, 40, 80, 160, 320, 640, 1_000]) size.note(100, keys)
  expect(size.max).toBe(1_000)
})

test('keys whose claim took most of their leases are claimed again a few at a time', async () => {
  const scene = new Scene(late)
  const queue = scene.queue({ leaseMs: 6_000 })
  await queue.addMany(Array.from({ length: 100 }, (_, at) => `key ${at}`))
  const answers: (() => void)[] = []
  const limits: number[] = []
  scene.late.after = async ({ verb, request }) => {
    if (verb !== 'claim') return
    limits.push((request as ClaimRequest).limit)
    if (limits.length > 1) return
    scene.late.inFlight -= 1
    await new Promise<void>((resolve) => answers.push(resolve))
    scene.late.inFlight += 1
  }
  const getting = seen(queue.getMany(100))
  await scene.quiet()
  await scene.clock.step(10_000)
  for (const answer of answers) answer()
  await scene.quiet()
  await scene.clock.step(10)
  expect(limits.slice(0, 2)).toEqual([100, 10])
  expect(getting.value).toHaveLength(10)
})
