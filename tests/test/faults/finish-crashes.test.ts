import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { fakeClock } from '@sluice/core/testing'
import pg from 'pg'
import { createQueue, createWorker } from 'sluice'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { driverAt } from '../../support/stores/driver-at.ts'
import { emptyFile } from '../../support/stores/empty-file.ts'
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.ts'

// A process is killed between the return of a handler and the acknowledgement of its finish. Its keys
// run again or are finished, and are never held by a process that is gone.

const program = fileURLToPath(
  new URL('../../support/programs/finishing-process.ts', import.meta.url),
)
const points = ['returned', 'queued', 'sent', 'committed'] as const

/** Runs the program until it has killed itself; the keys whose handlers it ran. */
function killed(address: string, point: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const flags = ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings']
    const args = [...flags, program, address, point]
    execFile(process.execPath, args, (error, stdout, stderr) => {
      if (error?.signal !== 'SIGKILL')
        reject(new Error(`was not killed: ${stderr}`, { cause: error }))
      else resolve(stdout.trim().split('\n'))
    })
  })
}

let server: PostgresServer
let observer: pg.Client

beforeAll(async () => {
  server = await startPostgres()
  observer = new pg.Client({ connectionString: server.url })
  await observer.connect()
  await observer.query(`create role dying superuser login password 'secret'`)
})
afterAll(async () => {
  await observer.query('drop role dying')
  await observer.end()
  await server.stop()
})

/** The address at which the process that is killed connects: as a role of its own. */
function addressOfDying(): string {
  const url = new URL(server.url)
  url.username = 'dying'
  url.password = 'secret'
  return url.href
}

async function connectionsOfDying(): Promise<number | null> {
  return (await observer.query(`select from pg_stat_activity where usename = 'dying'`)).rowCount
}

describe.for(['sqlite', 'postgres'] as const)('%s', (store) => {
  test.for(points)('kill -9 with the finish %s', async (point) => {
    const address = store === 'sqlite' ? emptyFile() : server.url
    // The process that dies has the clock of the machine, from which this one goes on.
    const clock = fakeClock(Date.now())
    const queue = createQueue<string>({ name: 'orders', driver: driverAt(address), clock })
    const keys = ['a', 'b']
    await queue.addMany(keys)
    const ranThere = await killed(store === 'sqlite' ? address : addressOfDying(), point)
    // The server carries out what a process has sent, even after the process is gone.
    await expect.poll(connectionsOfDying).toBe(0)
    const held = await queue.inspect.list({ state: 'processing' })
    const left = held.keys.map(({ key }) => key)
    const ranHere: string[] = []
    const worker = createWorker({ queue, handler: (key) => void ranHere.push(key) })
    // The leases of the process that is gone end.
    while ((await queue.inspect.list()).keys.length > 0) await clock.step(5_000)
    await worker.stop()
    await queue.close()
    for (const key of keys) {
      const wasFinished = ranThere.includes(key) && !ranHere.includes(key)
      assert.ok(wasFinished || ranHere.includes(key), `${key} ran`)
      // What the process had in hand, finished or not, runs again unless the store has its finish.
      if (left.includes(key)) assert.ok(ranHere.includes(key), `${key} runs again`)
    }
    if (point === 'returned') assert.deepEqual([ranThere, ranHere.sort()], [['a'], ['a', 'b']])
    if (point === 'queued')
      assert.deepEqual(
        [ranThere, ranHere.sort()],
        [
          ['a', 'b'],
          ['a', 'b'],
        ],
      )
    if (point === 'committed')
      assert.ok(!ranHere.includes('a'), 'a finish that was committed stays')
    assert.equal(new Set(ranHere).size, ranHere.length, 'no key runs twice here')
  })
})
