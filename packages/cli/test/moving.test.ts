import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { createQueue } from 'sluice'
import { describe, expect, test } from 'vitest'
import { Interrupted } from '../src/index.ts'
import { cli, json, output, scratchFolder } from './cli.ts'
import { driverOf } from './queues.ts'
import { newFile, postgresForFile } from './stores.ts'

const postgres = postgresForFile()

/** A file with a parked, a delayed and two ready keys in one queue, and a key in another. */
async function filled(): Promise<string> {
  const store = newFile()
  await output(['add', 'orders', 'a', 'b', 'parked'], { store })
  await output(['park', 'orders', 'parked'], { store })
  await output(['add-after', 'orders', '1h', 'later'], { store })
  await output(['add', 'mails', 'm'], { store })
  return store
}

const names = (store: string, queue = 'orders'): Promise<string> =>
  output(['ls', queue, '-o', 'name'], { store })

test('a queue is written as lines and read back, through a pipe and through a file', async () => {
  const store = await filled()
  const { out, err } = await cli(['export', 'orders'], { store })
  expect(err).toBe('4 keys of orders written\n')
  const lines = out.trimEnd().split('\n')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ sluice: 'queue', version: 1, queue: 'orders' })
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ end: true, keys: 4 })

  const second = newFile()
  expect(await output(['import', 'again'], { store: second, stdin: lines })).toBe(
    'again: 4 imported, 0 merged, 0 unchanged\n',
  )
  expect(await names(second, 'again')).toBe(await names(store))

  const folder = scratchFolder()
  const world = { store, cwd: folder }
  await output(['export', 'orders', '--file', 'orders.ndjson'], world)
  expect(readFileSync(join(folder, 'orders.ndjson'), 'utf8').trimEnd().split('\n')).toHaveLength(6)
  expect(statSync(join(folder, 'orders.ndjson')).mode & 0o777).toBe(0o600)
  expect(await json(['import', 'orders', 'orders.ndjson'], world)).toEqual({
    queue: 'orders',
    imported: 0,
    merged: 0,
    unchanged: 4,
  })
  const refused = await cli(['export', 'orders', '--file', 'orders.ndjson'], world)
  expect(refused.code).toBe(1)
  expect(refused.err).toMatch(/^sluice: the file cannot be written: EEXIST.*\[ERR_FILE\]\n$/)
  expect(existsSync(join(folder, 'orders.ndjson'))).toBe(true)
})

test('an export that was cut off is refused when it is read', async () => {
  const store = await filled()
  const lines = (await output(['export', 'orders'], { store })).trimEnd().split('\n')
  const { code, err } = await cli(['import', 'x'], { store, stdin: lines.slice(0, -1) })
  expect(code).toBe(1)
  expect(err).toMatch(
    /^sluice: lines must be a whole export: the last line is missing; 4 keys came, and are imported \[ERR_INVALID_INPUT\]\n$/,
  )
})

test('an export ends quietly when its reader has gone', async () => {
  const store = await filled()
  const closed = AbortSignal.abort()
  expect(await cli(['export', 'orders'], { store, closed })).toMatchObject({ code: 0, err: '' })
})

describe('copy', () => {
  test('copies queues and leaves the source as it was', async () => {
    const store = await filled()
    const second = newFile()
    expect(await output(['copy', store, second])).toBe(
      'mails: 1 key copied\norders: 4 keys copied\n',
    )
    expect(await names(second)).toBe(await names(store))
    expect(await output(['queues'], { store })).not.toContain('paused')
    expect(await output(['copy', store, second, 'orders'])).toBe('orders: 4 keys copied\n')
  })

  test('ends when it is interrupted, and is safe to repeat', async () => {
    const [store, second] = [newFile(), newFile()]
    const keys = Array.from({ length: 5_000 }, (_, at) => `k${at}`)
    await output(['add', 'orders', '--stdin'], { store, stdin: keys })
    const interruption = new AbortController()
    const { code } = await cli(['copy', store, second], {
      isTTY: true,
      interrupted: interruption.signal,
      onErr: (text) => {
        if (text.includes('lines copied')) interruption.abort(new Interrupted('SIGINT'))
      },
    })
    expect(code).toBe(130)
    const copied = await output(['ls', 'orders', '--force', '--all', '-o', 'name'], {
      store: second,
    })
    expect(copied.split('\n').length).toBeLessThan(5_000)
    expect(await json(['copy', store, second])).toEqual({
      queues: [{ queue: 'orders', copied: 5_000 }],
    })
  })

  test('copies the named queues, and merges into those that the target has', async () => {
    const store = await filled()
    const second = newFile()
    await output(['add', 'orders', 'a', 'other'], { store: second })
    expect(await json(['copy', store, second, 'orders'])).toEqual({
      queues: [{ queue: 'orders', copied: 4 }],
    })
    expect(await names(second)).toBe('a\nb\nlater\nother\nparked\n')
    expect(await output(['queues', '-o', 'name'], { store: second })).toBe('orders\n')
  })

  test('says that a store has no queues', async () => {
    const store = newFile()
    await output(['migrate'], { store })
    for (const verb of ['copy', 'move']) {
      const ended = await cli([verb, store, newFile()])
      expect(ended).toEqual({ code: 0, out: '', err: `no queues to ${verb}\n` })
    }
  })

  test('refuses a source that does not exist, and creates no target for it', async () => {
    const target = newFile()
    const { code, err } = await cli(['copy', newFile(), target])
    expect(code).toBe(1)
    expect(err).toContain('does not exist')
    expect((await cli(['queues'], { store: target })).err).toContain('does not exist')
  })
})

test('copy refuses a target that is the source, and says so', async () => {
  const store = await filled()
  const { code, out, err } = await cli(['copy', store, store.replace(/([^/]+)$/, './$1')])
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toBe('sluice: FROM and TO are one store [ERR_USAGE]\n')
})

describe('move', () => {
  test('moves all queues to another file, and leaves the old ones paused', async () => {
    const store = await filled()
    const second = newFile()
    expect(await output(['move', store, second])).toBe('mails: 1 key moved\norders: 4 keys moved\n')
    expect(await names(second)).toBe('a\nb\nlater\nparked\n')
    expect(await output(['queues', '--no-headers'], { store })).toMatch(
      /^mails +paused +0 .*\norders +paused +0 /,
    )
    expect(await output(['queues', '--no-headers'], { store: second })).not.toContain('paused')

    const third = newFile()
    expect(await json(['move', second, third, 'orders', '--no-resume'])).toEqual({
      queues: [{ queue: 'orders', moved: 4 }],
    })
    expect(await output(['queues', '--no-headers'], { store: third })).toMatch(
      /^orders +paused +2 /,
    )
    expect(await names(second, 'mails')).toBe('m\n')
  })

  test('moves queues from a file to Postgres, and back', async () => {
    const store = await filled()
    const server = await postgres.fresh()
    const moved = 'mails: 1 key moved\norders: 4 keys moved\n'
    expect(await output(['move', store, server])).toBe(moved)
    expect(await names(server)).toBe('a\nb\nlater\nparked\n')
    const lines = (await output(['export', 'orders'], { store: server })).trimEnd().split('\n')
    expect(await output(['import', 'again'], { store: server, stdin: lines })).toBe(
      'again: 4 imported, 0 merged, 0 unchanged\n',
    )
    const back = newFile()
    expect(await output(['move', server, back, 'mails', 'orders'])).toBe(moved)
    expect(await names(back)).toBe('a\nb\nlater\nparked\n')
  })

  test('says which queues stay paused in the target, as one that was paused before', async () => {
    const [store, to] = [newFile(), newFile()]
    await output(['add', 'orders', 'a'], { store })
    await output(['add', 'mails', 'a'], { store })
    await output(['pause', 'orders'], { store })
    const { err } = await cli(['move', store, to])
    expect(err).toBe(
      'orders stays paused in the target; to hand out its keys, run `sluice resume`\n',
    )
    expect((await cli(['move', store, newFile(), '--no-resume'])).err).toBe('')
  })

  test('waits until no key is held, can be interrupted, and is safe to repeat', async () => {
    const store = await filled()
    const driver = await driverOf(store)
    const queue = createQueue<string>({ name: 'orders', driver })
    const held = await queue.get()
    const second = newFile()
    const interruption = new AbortController()
    const { code } = await cli(['move', store, second, 'orders'], {
      isTTY: true,
      interrupted: interruption.signal,
      onErr: (text) => {
        if (text.includes('waiting until')) interruption.abort(new Interrupted('SIGINT'))
      },
    })
    expect(code).toBe(130)
    await held?.done()
    await queue.close()
    expect(await output(['move', store, second, 'orders'])).toBe('orders: 3 keys moved\n')
  })

  test('refuses a target that is the source by another address, and keeps its keys', async () => {
    const store = await filled()
    const link = join(scratchFolder(), 'link.db')
    symlinkSync(store.replace('sqlite:', ''), link)
    const server = await postgres.fresh()
    await output(['copy', store, server])
    const sameServer = server.replace('127.0.0.1', 'localhost')
    for (const [from, to] of [
      [store, store],
      [store, link],
      [server, sameServer],
    ] as const) {
      const { code, err } = await cli(['move', from, to, 'orders'])
      expect({ code, err }).toEqual({
        code: 2,
        err: 'sluice: FROM and TO are one store [ERR_USAGE]\n',
      })
      expect(await names(from)).toBe('a\nb\nlater\nparked\n')
    }
  })

  test('shows progress on a terminal', async () => {
    const store = await filled()
    const { err } = await cli(['move', store, newFile(), 'orders'], { isTTY: true })
    expect(err).toContain('orders: 4 keys moved')
  })

  test.each([
    [21, 'orders: 4 keys moved'],
    [20, 'orders: 4…eys moved'],
  ])('keeps progress in one line of %i columns', async (columns, line) => {
    const { err } = await cli(['move', await filled(), newFile(), 'orders'], {
      isTTY: true,
      columns,
    })
    expect(err).toContain(`\r${line}\u001b[K`)
  })

  test('refuses a source that does not exist, and creates no target for it', async () => {
    const target = newFile()
    const { code, err } = await cli(['move', newFile(), target])
    expect(code).toBe(1)
    expect(err).toContain('does not exist')
    expect((await cli(['queues'], { store: target })).err).toContain('does not exist')
  })
})

describe('migrate', () => {
  test('makes a schema that --verify holds for, and not before', async () => {
    const store = postgres.bare()
    const before = await cli(['migrate', '--verify'], { store })
    expect(before.code).toBe(1)
    expect(before.err).toMatch(/run `sluice migrate`, or apply .* \[ERR_SCHEMA_OLDER\]\n$/)
    const add = await cli(['add', 'orders', 'a'], { store })
    expect(add.err).toContain('[ERR_SCHEMA_OLDER]')
    expect(await output(['migrate'], { store })).toMatch(
      /^postgres:\/\/postgres:\*\*\*@.* is up to date\n$/,
    )
    expect(await output(['migrate', '--verify'], { store })).toContain('is up to date')
  })

  test('--prune drops functions of other versions, and says which', async () => {
    const store = postgres.bare()
    await output(['migrate'], { store })
    const schema = new URL(store).searchParams.get('schema')
    const client = new pg.Client({ connectionString: postgres.url() })
    await client.connect()
    await client.query(`create function ${schema}.add_01234567() returns int return 1`)
    await client.end()
    await output(['migrate'], { store })
    expect(await output(['migrate', '--prune'], { store })).toMatch(
      /^dropped the function add_01234567\n.* is up to date\n$/,
    )
    expect(JSON.parse(await output(['migrate', '--prune', '-o', 'json'], { store }))).toMatchObject(
      {
        upToDate: true,
        pruned: [],
      },
    )
    await output(['add', 'orders', 'a'], { store })
    expect((await cli(['migrate', '--prune'], { store: newFile() })).code).toBe(2)
  })

  test('makes a file, and does not with --verify', async () => {
    const store = newFile()
    expect((await cli(['migrate', '--verify'], { store })).code).toBe(1)
    expect((await cli(['queues'], { store })).code).toBe(1)
    await output(['migrate'], { store })
    expect((await cli(['queues'], { store })).code).toBe(0)
  })

  test('prints SQL for others to run, without a store to connect to', async () => {
    expect(await output(['migrate', '--print-sql'])).toMatch(
      /^begin;\ncreate schema if not exists "sluice";[\s\S]*commit;\n$/,
    )
    // That of the versions after the one that a schema is at.
    const after = await output(['migrate', '--print-sql', '--from', '1'])
    expect(after).toMatch(/^begin;\n[\s\S]*commit;\n$/)
    expect(after).not.toMatch(/create schema|values \(1, /)
    const store = 'postgres://nobody@localhost:1/nothing?schema=jobs'
    expect(await output(['migrate', '--print-sql'], { store })).toContain('"jobs"')
    const roles = ['--roles', '--owner', 'o', '--runtime', 'r', '--read-only', 'v']
    expect(await output(['migrate', ...roles])).toContain('to "r", "v"')
    expect(await output(['migrate', ...roles, '--producer', 'p'])).toContain('to "p"')
    expect((await cli(['migrate', '--roles', '--owner', 'o'])).code).toBe(2)
    expect((await cli(['migrate', '--print-sql'], { store: newFile() })).code).toBe(2)
  })

  test.each([
    ['--from', '1', '--from goes with --print-sql'],
    ...['--owner', '--runtime', '--read-only', '--producer'].map((flag) => [
      flag,
      'me',
      `${flag} goes with --roles`,
    ]),
  ])('%s alone changes nothing', async (flag = '', value = '', says) => {
    const store = newFile()
    const { code, err } = await cli(['migrate', flag, value], { store })
    expect({ code, err }).toEqual({ code: 2, err: `sluice: ${says} [ERR_USAGE]\n` })
    expect((await cli(['queues'], { store })).err).toContain('does not exist')
  })
})

describe('bench', () => {
  test('measures a store in a queue that is removed afterwards', async () => {
    for (const store of [await filled(), await postgres.fresh()]) {
      const before = await json(['queues'], { store })
      const { results } = await json<{ results: object[] }>(['bench', '--keys', '300'], { store })
      expect(results).toEqual(
        ['add, one by one', 'add, 500 at a time', 'claim and done, 500 at a time'].map((what) => ({
          what,
          keys: expect.any(Number),
          ms: expect.any(Number),
          perSecond: expect.any(Number),
        })),
      )
      const names = ({ queues }: { queues?: { queue: string }[] }): unknown =>
        queues?.map(({ queue }) => queue)
      expect(names(await json(['queues'], { store }))).toEqual(names(before))
    }
  })

  test('measures as many keys as it was told, however few', async () => {
    const { results } = await json<{
      results: { keys: number; ms: number; perSecond: number }[]
    }>(['bench', '--keys', '3'], { store: await filled() })
    expect(results.map(({ keys }) => keys)).toEqual([3, 3, 6])
    for (const { keys, ms, perSecond } of results) {
      // It is a whole number, which says little of a rate that is low: on a machine that is held up.
      const exact = (keys * 1_000) / ms
      expect(Math.abs(perSecond - exact)).toBeLessThan(0.51 + exact / 20)
    }
    const { code, err } = await cli(['bench', '--keys', '0'], { store: newFile() })
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('--keys') })
  })

  test('leaves no queue behind when it is interrupted', async () => {
    const store = await filled()
    const interruption = new AbortController()
    const { code } = await cli(['bench'], {
      store,
      isTTY: true,
      interrupted: interruption.signal,
      onErr: (text) => {
        if (text.includes('at a time')) interruption.abort(new Interrupted('SIGINT'))
      },
    })
    expect(code).toBe(130)
    expect(await output(['queues', '-o', 'name'], { store })).toBe('mails\norders\n')
  })

  test('takes memory, which no other command does', async () => {
    expect(await output(['bench', '--keys', '50'], { store: 'memory:' })).toMatch(/^WHAT +KEYS/)
    const { code, err } = await cli(['queues'], { store: 'memory:' })
    expect(code).toBe(2)
    expect(err).toContain('memory: is private to one process')
  })
})
