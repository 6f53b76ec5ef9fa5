import { memoryDriver } from '@sluice/memory'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createQueue } from '../../src/index.ts'
import { LateDriver } from '../support/late-driver.ts'

/** As zone.js and others do: what async functions return is an instance of the one that was there before. */
beforeEach(() => void vi.stubGlobal('Promise', class extends Promise<unknown> {}))
afterEach(() => void vi.unstubAllGlobals())

test('a queue waits for the answers of its driver where a program has replaced Promise', async () => {
  const queue = createQueue<string>({ name: 'q', driver: new LateDriver(memoryDriver()) })
  expect(await queue.addMany(['a', 'b'])).toEqual(['added', 'added'])
  expect(await queue.inspect.counts()).toMatchObject({ ready: 2 })
  const held = await queue.get()
  expect(await held?.done()).toBe('idle')
  expect(await queue.len()).toBe(1)
  await queue.close()
})

test('and rejects with the error of the driver, once', async () => {
  const driver = new LateDriver(memoryDriver())
  const queue = createQueue<string>({ name: 'q', driver, onError() {} })
  driver.before = ({ verb }) => {
    if (verb === 'cancel') throw new Error('refused')
  }
  await expect(queue.cancel('a')).rejects.toThrow('refused')
  await queue.close()
})
