import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { hasRedis, startRedis } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { PrintedSpan } from '../../support/programs/traced-process.ts'
import { emptyFile } from '../../support/stores/empty-file.ts'
import { startPostgres } from '../../support/stores/postgres-server.ts'

// Two processes add keys, a third one runs them, with the SDK of OpenTelemetry in each: the runs are
// linked to the adds of both.

const program = fileURLToPath(new URL('../../support/programs/traced-process.ts', import.meta.url))

function spansOf(...args: readonly string[]): Promise<PrintedSpan[]> {
  return new Promise((resolve, reject) => {
    const flags = ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings']
    execFile(process.execPath, [...flags, program, ...args], (error, stdout, stderr) => {
      if (error !== null) reject(new Error(stderr, { cause: error }))
      else
        resolve(
          stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line)),
        )
    })
  })
}

async function check(address: string): Promise<void> {
  const first = await spansOf(address, 'add', 'a', 'b')
  const second = await spansOf(address, 'add', 'b', 'c')
  const runs = await spansOf(address, 'run', '6')

  /** The add of a key, which is part of the trace of its request. */
  const addOf = (spans: readonly PrintedSpan[], key: string): string => {
    const request = spans.find(({ name }) => name === `request ${key}`)
    const add = spans.find(
      ({ name, parentId }) => name === 'add orders' && parentId === request?.spanId,
    )
    expect(add?.traceId).toBe(request?.traceId)
    return `${add?.traceId}/${add?.spanId}`
  }
  const causes = new Map([
    ['a', [addOf(first, 'a')]],
    ['b', [addOf(first, 'b'), addOf(second, 'b')]],
    ['c', [addOf(second, 'c')]],
  ])
  for (const [key, adds] of causes) {
    const processed = runs.filter((span) => span.name === 'process orders' && span.key === key)
    expect(processed, `the runs of ${key}`).toHaveLength(2)
    for (const { links, parentId } of processed) {
      expect(links.slice(0, -1), `the adds of ${key}`).toEqual(adds)
      expect(parentId).toBeUndefined()
    }
  }
}

describe('runs are linked to adds of other processes', () => {
  test('on SQLite', () => check(emptyFile()))

  test('on Postgres', async () => {
    const server = await startPostgres()
    onTestFinished(() => server.stop())
    await check(server.url)
  })

  test.skipIf(!hasRedis)('on Redis', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    await check(server.url)
  })
})
