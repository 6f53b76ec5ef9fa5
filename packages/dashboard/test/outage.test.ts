import { postgresDriver, rolesSql } from '@sluice/postgres'
import { type PostgresServer, startPostgres } from '@sluice/test-postgres'
import pg from 'pg'
import { createQueue } from 'sluice'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDashboard } from '../src/create-dashboard.ts'
import { EventReader, type ReadEvent } from './event-reader.ts'

let postgres: PostgresServer

beforeAll(async () => {
  postgres = await startPostgres()
})

afterAll(async () => {
  await postgres.dispose()
})

describe('a Postgres that is stopped and started again', () => {
  // real time: a server takes the time it takes, and the dashboard retries automatically.
  test('is shown as unreachable, then live again, on streams that stay open', async () => {
    const make = () => postgresDriver({ connectionString: postgres.url, onWarning() {} })
    const driver = make()
    const queue = createQueue<string>({ name: 'orders', driver, onError() {} })
    await queue.add('a')
    const dashboard = createDashboard({ driver, tickMs: 100 })
    const ask = (path: string): Promise<Response> =>
      dashboard.fetch(new Request(`http://localhost${path}`))
    const abouts = ['about=overview', 'about=queue&queue=orders', 'about=key&queue=orders&key=a']
    const readers: EventReader[] = []
    for (const about of abouts) readers.push(new EventReader(await ask(`/api/stream?${about}`)))
    const nextOf = async (event: string): Promise<ReadEvent[]> =>
      await Promise.all(
        readers.map(async (reader) => {
          for (;;) {
            const read = await reader.next()
            if (read === undefined) throw new Error('the stream has ended')
            if (read.event === event) return read
          }
        }),
      )
    expect((await nextOf('snapshot'))[0]?.data.queues).toMatchObject([{ queue: 'orders' }])

    await postgres.stop()
    for (const { data } of await nextOf('trouble')) {
      expect(data).toMatchObject({ code: 'ERR_STORE', sinceMs: expect.any(Number) })
      expect(JSON.stringify(data)).not.toContain('secret')
    }
    const answer = await ask('/api/overview')
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ code: 'ERR_STORE' })
    const later = await nextOf('trouble')
    expect(later[0]?.data.sinceMs).toBeGreaterThan(0)

    await postgres.start()
    const other = createQueue<string>({ name: 'mails', driver: make(), onError() {} })
    await other.add('b')
    const [overview, whole, key] = await nextOf('snapshot')
    expect(overview?.data.queues.map(({ queue: name }: { queue: string }) => name)).toContain(
      'orders',
    )
    expect(whole?.data.counts.ready).toBe(1)
    expect(key?.data.state).toBe('ready')
    expect((await ask('/api/overview')).status).toBe(200)
    await dashboard.close()
    await queue.close()
    await other.close()
  })

  test('can be away when the dashboard starts', async () => {
    await postgres.stop()
    const driver = postgresDriver({ connectionString: postgres.url, onWarning() {} })
    const dashboard = createDashboard({ driver, tickMs: 100 })
    const get = (path: string): Promise<Response> =>
      dashboard.fetch(new Request(`http://localhost${path}`))
    expect((await get('/api/session')).status).toBe(200)
    expect((await get('/api/keys?queue=orders')).status).toBe(503)
    const events = new EventReader(await get('/api/stream?about=overview'))
    expect((await events.next())?.event).toBe('trouble')
    await postgres.start()
    expect((await events.nextBut('trouble', 'ping'))?.event).toBe('snapshot')
    await dashboard.close()
  })
})

describe('a role of Postgres that may only read', () => {
  test('is enough to read everything', async () => {
    const queue = createQueue<string>({
      name: 'orders',
      driver: postgresDriver({ connectionString: postgres.url, onWarning() {} }),
    })
    await queue.add('a')
    const admin = new pg.Client({ connectionString: postgres.url })
    await admin.connect()
    await admin.query(
      "create role an_owner; create role a_runtime; create role a_reader login password 'x'",
    )
    await admin.query(rolesSql({ owner: 'an_owner', runtime: 'a_runtime', readOnly: 'a_reader' }))
    await admin.end()
    const connectionString = postgres.url.replace('postgres:secret', 'a_reader:x')
    const driver = postgresDriver({ connectionString, migrate: 'verify', onWarning() {} })
    const dashboard = createDashboard({ driver })
    const query = 'queue=orders&key=a'
    for (const path of ['overview', 'queue', 'keys', 'key', 'matching']) {
      const request = new Request(`http://localhost/api/${path}?${query}`)
      const answer = await dashboard.fetch(request)
      expect(answer.status, path).toBe(200)
    }
    await dashboard.close()
    await queue.close()
  })
})
