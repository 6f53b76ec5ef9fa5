/** Notices: that they come, that their loss is noticed, and that nobody depends on them. */

import { createServer, type Socket } from 'node:net'
import { fakeClock } from '@sluice/core/testing'
import { freePort } from '@sluice/needs/free-port'
import pg from 'pg'
import { expect, test } from 'vitest'
import type { PgListener } from '../../src/connection/client-shapes.ts'
import { postgresDriver } from '../../src/index.ts'
import { Listener } from '../../src/notices/listener.ts'
import { ask, askOptions as options } from '../support/asks.ts'
import { openPatient } from '../support/open-patient.ts'
import { databaseOf } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'
import { watched } from '../support/watched.ts'

const one = ask('a')

const server = sharedServer()

/** Ends the connections that listen, and nothing else. Resolves when they are gone. */
async function killListeners(): Promise<number> {
  const { rows } = await server.pool.query<{ pid: number }>(
    `select pid, pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'sluice listens' and datname = current_database()`,
  )
  const pids = rows.map(({ pid }) => pid)
  const there = 'select from pg_stat_activity where pid = any($1)'
  while ((await server.pool.query(there, [pids])).rowCount !== 0);
  return pids.length
}

test('an add of another process wakes watchers, with the name of the queue', async () => {
  const [here, there] = [
    await openPatient(server.url, 'wake'),
    await openPatient(server.url, 'wake'),
  ]
  const watcher = await watched(here)
  const woken = watcher.next((queue) => queue !== undefined)
  await there.add("it's a \\ queue", [one], options)
  expect(await woken).toBe("it's a \\ queue")
  await watcher.stop()
})

test('a listener that is killed comes back, and looks at what it may have missed', async () => {
  const warnings: string[] = []
  const [here, there] = [
    await openPatient(server.url, 'killed', warnings),
    await openPatient(server.url, 'killed'),
  ]
  const watcher = await watched(here)
  for (let kill = 0; kill < 20; kill += 1) {
    const caughtUp = watcher.next((queue) => queue === undefined)
    expect(await killListeners()).toBe(1)
    await caughtUp
    const woken = watcher.next((queue) => queue !== undefined)
    await there.add(`q${kill}`, [one], options)
    await woken
  }
  // However often that is, the log has few lines of it.
  expect(warnings.length).toBeLessThan(5)
  await watcher.stop()
})

test('a pool that was given its password apart listens too', async () => {
  const { hostname, port, username, password } = new URL(server.url)
  const to = { host: hostname, port: Number(port), database: databaseOf(server.url) }
  const apart = new pg.Pool({ ...to, user: username, password })
  apart.on('error', () => {})
  apart.on('connect', (client) => client.on('error', () => {}))
  const warnings: string[] = []
  const onWarning = (message: string): void => void warnings.push(message)
  const driver = postgresDriver({ pool: apart, schema: 'apart', pollMs: 60_000, onWarning })
  await driver.open({})
  const watcher = await watched(driver)
  const woken = watcher.next((queue) => queue === 'q')
  await (await openPatient(server.url, 'apart')).add('q', [one], options)
  await woken
  expect(warnings).toEqual([])
  await driver.close()
  await apart.end()
})

test('nothing listens without a watcher, and nothing stays behind', async () => {
  const driver = await openPatient(server.url, 'nobody')
  const listeners = async (): Promise<number> => {
    const { rows } = await server.pool.query(
      `select count(*)::int as n from pg_stat_activity
      where application_name = 'sluice listens' and datname = current_database()`,
    )
    return rows[0].n
  }
  const untilNobody = async (): Promise<void> => {
    while ((await listeners()) > 0);
  }
  await untilNobody()
  const watcher = await watched(driver)
  expect(await listeners()).toBe(1)
  await watcher.stop()
  await watcher.stop()
  const again = await watched(driver)
  await driver.close()
  await untilNobody()
  await again.stop()
})

test('a server that is not there is not asked again and again', async () => {
  const clock = fakeClock()
  const port = await freePort()
  let made = 0
  let warned = (): void => {}
  const warning = new Promise<void>((resolve) => {
    warned = resolve
  })
  const listener = new Listener({
    environment: { clock, random: () => 0 },
    channel: 'sluice_x',
    make: () => {
      made += 1
      return new pg.Client({ host: '127.0.0.1', port }) as unknown as PgListener
    },
    async send() {},
    onNotice() {},
    onWarning: () => warned(),
  })
  await listener.start()
  await warning
  // Long enough for whatever the failed connection has still to say.
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(made).toBe(1)
  await listener.stop()
})

test('to stop watching does not wait for a connection that is still being opened', async () => {
  const sockets: Socket[] = []
  let came = (): void => {}
  const reached = new Promise<void>((resolve) => {
    came = resolve
  })
  const mute = createServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    came()
  })
  await new Promise<void>((resolve) => {
    mute.listen(0, '127.0.0.1', resolve)
  })
  const address = mute.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const listener = new Listener({
    // No deadline ever comes.
    environment: { clock: fakeClock(), random: () => 0 },
    channel: 'sluice_x',
    make: () => new pg.Client({ host: '127.0.0.1', port }) as unknown as PgListener,
    async send() {},
    onNotice() {},
    onWarning() {},
  })
  const started = listener.start()
  await reached
  await listener.stop()
  await started
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => {
    mute.close(resolve)
  })
})
