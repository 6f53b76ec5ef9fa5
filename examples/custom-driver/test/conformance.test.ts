import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type QueueFactories, queueCases, type Subject } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import { fakeClock } from '@sluice/core/testing'
import { createDelayingQueue, createQueue, createRateLimitingQueue, createWorker } from 'sluice'
import { fileDriver } from '../src/file-driver.ts'

function create(): Subject {
  const folder = mkdtempSync(join(tmpdir(), 'custom-driver-'))
  const make = () => fileDriver(join(folder, 'queue.v8'), { durability: 'process' })
  return {
    driver: make(),
    clock: fakeClock(),
    restart: make,
    dispose: () => rmSync(folder, { recursive: true }),
  }
}

// Every write writes the whole file, so of what is left to chance there is less than usual.
examine('a driver in a file', create, { chance: { modelRuns: 20 } })

const factories = {
  createQueue,
  createDelayingQueue,
  createRateLimitingQueue,
  createWorker,
} as unknown as QueueFactories

examine('a queue on a driver in a file', create, { cases: queueCases(factories) })
