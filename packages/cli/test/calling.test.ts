import { existsSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Interrupted } from '../src/terminal.ts'
import { cli, json, output, scratchFolder, type World } from './cli.ts'
import { newFile, postgresForFile } from './stores.ts'

const postgres = postgresForFile()

describe('a usage error is one line, exits with 2 and changes nothing', () => {
  test.each([
    [['quues'], /^sluice: unknown command 'quues'; did you mean queues\? See `sluice --help`/],
    [['help', 'quues'], /unknown command 'quues'; see `sluice --help`/],
    [['help', '-o', 'table', 'quues'], /unknown command 'quues'; see `sluice --help`/],
    [['ls'], /missing required argument 'QUEUE'; see `sluice ls --help`/],
    [['ls', 'q', '--stat', 'ready'], /unknown option '--stat'; did you mean --state\? See/],
    [['ls', 'q', '--state', 'sleepy'], /--state.*Allowed choices are ready, delayed/],
    [['ls', 'q', '--limit', '0'], /--limit must be a whole number not below 1; got '0'/],
    [['ls', 'q', '-o', 'xml'], /Allowed choices are table, wide, json, yaml, name; see/],
    [['ls', ''], /QUEUE must not be empty/],
    [['get', 'q', 'x'.repeat(600)], /KEY must be at most 512 bytes/],
    [['get', 'q', 'a', 'b'], /too many arguments/],
    [['add', 'q'], /name a KEY, or give --item or --stdin/],
    [['add', 'q', '--item', '{'], /--item must be JSON/],
    [['add', 'q', 'a', 'b', '--item', '1'], /--item takes one KEY/],
    [['add', 'q', 'a', '--stdin'], /--stdin takes no KEY/],
    [['add', 'q', '--item', '1', '--stdin'], /--stdin takes no KEY and no --item/],
    [['add', 'q', 'a', '--priority', '1001'], /--priority must be a whole number from -1000 to/],
    [['add', 'q', 'a', '--items'], /--items goes with --stdin/],
    [['add-after', 'q', 'soon', 'a'], /DELAY must be a duration such as 500ms, 5s/],
    [['add-after', 'q', '11000000h', 'a'], /DELAY must be at most ten years/],
    [['park', 'q'], /name a KEY, or give --all/],
    [['park', 'q', '--all', '--failures-min', 'x'], /--failures-min must be a whole number not/],
    [['park', 'q', 'a', '--limit', '1'], /options that select keys require --all/],
    [['release', 'q', 'a', 'b', '--token', '1'], /--token goes with one KEY/],
    [['park', 'q', 'a', '--all'], /name keys or give --all, not both/],
    [['park', 'q', 'a', '--state', 'ready'], /options that select keys require --all/],
    [['queues', '--timeout', '5'], /--timeout must be a duration such as 500ms/],
    [['migrate', '--verify', '--roles'], /exclude each other/],
    [['copy', 'a.db', 'b.db', '--keep'], /unknown option '--keep'/],
    [
      ['get', 'q', '-a'],
      /unknown option '-a'; if it is a key, put -- before it; see `sluice get --help`/,
    ],
    [['copy', 'a.db', 'b.db', '--no-resume'], /unknown option '--no-resume'/],
    [['completion', 'tcsh'], /Allowed choices are bash, zsh, fish/],
    [['dashboard', '--port', '70000'], /--port must be a whole number from 0 to 65535/],
  ])('%j', async (argv, words) => {
    const store = newFile()
    const { code, out, err } = await cli(argv, { store })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(words)
    expect(err).toMatch(/^sluice: .* \[ERR_USAGE\]\n$/)
    // No store was opened, or the file would exist.
    expect((await cli(['queues'], { store })).err).toContain('does not exist')
  })
})

describe('the store', () => {
  test.each<[string, World['env'], RegExp]>([
    ['', {}, /no store is given; use -s/],
    [
      'mysql://x',
      {},
      /'mysql:\/\/x' is not the address of a store; valid addresses look like sqlite:/,
    ],
    ['nonsense', {}, /'nonsense' is not the address/],
    ['sqlite:', {}, /must be followed by the path of a file/],
    ['postgres://h/d?schema=Robert"); drop', {}, /the schema must be lower-case letters/],
    ['redis://h?prefx=a:', {}, /'prefx' is no parameter of a Redis address; use prefix or one-s/],
    ['redis://h?one-slot=yes', {}, /one-slot must be true or false; got 'yes'/],
    ['redis:', {}, /^sluice: redis: is not the address of a Redis; use redis:.*\[ERR_USAGE\]\n$/],
    ['redis://:secret@h:99999', {}, /^sluice: redis:\/\/:\*\*\*@h:99999 has a host or a port/],
    ['postgres://u:p@h:99999/d', {}, /^sluice: postgres:\/\/u:\*\*\*@h:99999\/d must be like/],
    ['@/does/not/exist', {}, /the file with the store address cannot be read/],
  ])('%j is refused with words', async (store, env, words) => {
    const { code, err } = await cli(['queues'], { store, env: env ?? {} })
    expect(code).toBe(2)
    expect(err).toMatch(words)
    // Its form is not a matter of health.
    expect(await cli(['doctor'], { store, env: env ?? {} })).toEqual({ code, out: '', err })
  })

  test('is named by -s before SLUICE_STORE, by a path alone, or by a file with the address', async () => {
    const folder = scratchFolder()
    const world = { cwd: folder, store: 'sqlite:./other.db' }
    await output(['add', 'orders', 'a', '-s', 'sqlite:./queue.db'], world)
    writeFileSync(join(folder, 'address'), 'sqlite:./queue.db\n')
    const forms = ['sqlite:queue.db', 'sqlite://queue.db', `sqlite://${folder}/queue.db`]
    for (const form of [...forms, './queue.db', 'queue.db', '@address']) {
      expect(await output(['ls', 'orders', '-o', 'name', '-s', form], world)).toBe('a\n')
    }
    // A variable that is filled from a file, such as a secret of Kubernetes, has the newline of the file.
    const filled = { cwd: folder, store: 'sqlite:./queue.db\n' }
    expect(await output(['ls', 'orders', '-o', 'name'], filled)).toBe('a\n')
    expect((await cli(['queues'], world)).err).toContain('sqlite:./other.db does not exist')
  })

  test('is not created by commands that need an existing one', async () => {
    const commands = [
      ['queues'],
      ['ls', 'q'],
      ['get', 'q', 'a'],
      ['explain', 'q', 'a'],
      ['top'],
      ['workers'],
      ['counts', 'q'],
      ['describe', 'q'],
      ['events', 'q'],
      ['failures'],
      ['leases'],
      ['limiters'],
      ['release', 'q', 'a'],
      ['run-now', 'q', 'a'],
      ['forget', 'q', 'a'],
      ['park', 'q', 'a'],
      ['unpark', 'q', 'a'],
      ['remove', 'q', 'a'],
      ['pause', 'q'],
      ['resume', 'q'],
      ['purge', 'q', '--yes'],
      ['drain', 'q'],
      ['export', 'q'],
      ['doctor'],
      ['bench'],
      ['dashboard'],
      ['migrate', '--verify'],
    ]
    const store = newFile()
    for (const argv of commands) {
      const { code, err } = await cli(argv, { store })
      expect(code, argv.join(' ')).toBe(1)
      expect(err).toMatch(/does not exist, and this command does not create it; .*\[ERR_STORE\]\n$/)
    }
  })

  test('that is not a store is rejected with its code', async () => {
    const folder = scratchFolder()
    writeFileSync(join(folder, 'queue.db'), 'hello, this is no database at all'.repeat(100))
    const { code, err } = await cli(['queues'], { store: './queue.db', cwd: folder })
    expect(code).toBe(1)
    expect(err).toMatch(/^sluice: .*\[ERR_STORE_(DAMAGED|FOREIGN)\]/)
  })
})

test('a file that cannot be imported is named', async () => {
  const store = newFile()
  const folder = scratchFolder()
  for (const [file, reason] of [
    ['missing.ndjson', 'ENOENT: no such file or directory'],
    ['.', 'EISDIR: illegal operation on a directory'],
  ] as const) {
    const { code, out, err } = await cli(['import', 'orders', file], { store, cwd: folder })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(`sluice: the file cannot be read: ${reason}`)
    expect(err).toMatch(/ \[ERR_FILE\]\n$/)
    // That is found before the store of the queue is made.
    expect(existsSync(store.replace('sqlite:', ''))).toBe(false)
  }
})

describe('no error shows a password', () => {
  test('that has a % which encodes nothing', async () => {
    const { code, err } = await cli(['queues', '-s', 'postgres://me:100%secret@127.0.0.1:1/db'])
    expect(code).toBe(1)
    expect(err).toMatch(/^sluice: .* \[ERR_STORE\]/)
    expect(err).not.toContain('100%secret')
  })

  const secret = 'h%40rd+to.guess'
  const decoded = 'h@rd+to.guess'
  test.each<[string, readonly string[], World]>([
    ['refused connections', ['queues', '-s', `postgres://me:${secret}@127.0.0.1:1/db`], {}],
    ['with --debug', ['queues', '--debug', '-s', `postgres://me:${secret}@127.0.0.1:1/db`], {}],
    ['SLUICE_STORE', ['queues', '--debug'], { store: `postgres://me:${secret}@127.0.0.1:1/db` }],
    ['a mistyped scheme', ['queues', '-s', `postgre://me:${secret}@127.0.0.1:1/db`], {}],
    ['an address that is none', ['queues', '-s', `postgres://me:${secret}@[/db`], {}],
    ['one that should be encoded', ['queues', '-s', `postgres://me:/${secret}?@h:1/db`], {}],
    ['a bad schema', ['queues', '-s', `postgres://me:${secret}@h/db?schema=UPPER`], {}],
    ['a password in the query', ['queues', '-s', `postgres://h:1/db?password=${secret}`], {}],
    ['the wrong argument', ['queues', `postgres://me:${secret}@127.0.0.1:1/db`], {}],
    ...['copy', 'move'].map((command): [string, readonly string[], World] => [
      command,
      [command, `postgres://me:${secret}@127.0.0.1:1/db`, 'postgres://h:x@127.0.0.1:1/y'],
      {},
    ]),
    ['doctor', ['doctor', '-s', `postgres://me:${secret}@127.0.0.1:1/db`], {}],
    ['dashboard', ['dashboard', `postgres://me:${secret}@127.0.0.1:1/db`], {}],
    ['migrate', ['migrate', '-s', `postgres://me:${secret}@127.0.0.1:1/db`], {}],
    // Of an error that no driver has made, and that has been given no password to hide.
    ...[[], ['--debug'], ['-o', 'json'], ['-o', 'json', '--debug']].map(
      (more): [string, readonly string[], World] => [
        ['PGPASSWORD', ...more].join(' '),
        ['queues', '-s', `sqlite:./${decoded}.db`, ...more],
        { env: { PGPASSWORD: secret } },
      ],
    ),
  ])('%s', async (_, argv, world) => {
    const { code, out, err } = await cli(argv, world)
    expect(code).not.toBe(0)
    for (const text of [secret, decoded]) {
      expect(out).not.toContain(text)
      expect(err).not.toContain(text)
    }
  })

  test.each([
    'postgres://me:hidden?guess@127.0.0.1:1/db',
    'postgres://me:hidden?gu=ess@127.0.0.1:1/db',
    'postgres://me:123?guess@127.0.0.1:1/db',
    'redis://me:hidden?guess@127.0.0.1:1',
    'redis://:hidden?prefix=guess@127.0.0.1:1',
  ])('one with a ? that should be encoded: %s', async (store) => {
    const { code, out, err } = await cli(['queues', '-s', store])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^sluice: .*%3F.* \[ERR_USAGE\]\n$/)
    expect(err).not.toMatch(/hidden|123|gu|ess@/)
  })

  test.each([
    'postgres://127.0.0.1:1/db?user=me@here',
    'postgres://[::1]:1/db?user=me@here',
    'postgres://me:pw@127.0.0.1:1/db?user=me@here',
    'redis://127.0.0.1:1?prefix=a@b:',
  ])('a value with an @ is none: %s', async (store) => {
    expect((await cli(['queues', '-s', store])).err).toMatch(/ \[ERR_STORE\]/)
  })

  test('a wrong one, rejected by the server', async () => {
    const store = postgres.url().replace(':secret@', ':not-the-one@')
    const { code, err } = await cli(['queues', '--debug'], { store })
    // A server with `trust` authentication accepts every password.
    expect([0, 1]).toContain(code)
    expect(err).not.toContain('not-the-one')
  })

  test('one from a file', async () => {
    const folder = scratchFolder()
    writeFileSync(join(folder, 'address'), `postgres://me:${secret}@127.0.0.1:1/db\n`)
    const { err } = await cli(['queues', '-s', '@address', '--debug'], { cwd: folder })
    expect(err).toContain('ECONNREFUSED')
    expect(err).not.toContain(secret)
  })

  test('one from a file, which a server repeats in words of its own', async () => {
    const sent = decodeURIComponent(secret)
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(`-ERR no user has ${sent}\r\n`))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const folder = scratchFolder()
    const { port } = server.address() as AddressInfo
    writeFileSync(join(folder, 'address'), `redis://:${secret}@127.0.0.1:${port}\n`)
    const { err } = await cli(['queues', '-s', '@address', '--debug'], { cwd: folder })
    expect(err).toContain('ERR no user has ***')
    expect(err).not.toContain(sent)
  })
})

test('--debug shows where an error comes from, and what is under it', async () => {
  const { err } = await cli(['queues', '--debug', '-s', 'postgres://127.0.0.1:1/db'])
  expect(err).toMatch(/\n {4}at .*\n[\s\S]*caused by [\s\S]*ECONNREFUSED/)
})

test('a command gives up after --timeout', async () => {
  const store = newFile()
  await output(['add', 'orders', 'a'], { store })
  const { code, err } = await cli(['drain', 'orders', '--timeout', '50ms'], { store })
  expect(code).toBe(1)
  expect(err).toContain('sluice: not done within 50ms [ERR_TIMEOUT]\n')
})

test.each(['ls', 'export'])(
  'an interruption ends a long list between two pages, by %s',
  async (name) => {
    const store = newFile()
    const stdin = Array.from({ length: 3_000 }, (_, at) => `order/${at}`)
    await output(['add', 'orders', '--stdin'], { store, stdin })
    const interruption = new AbortController()
    const argv = name === 'ls' ? ['ls', 'orders', '--all', '-o', 'name'] : ['export', 'orders']
    const { code } = await cli(argv, {
      store,
      interrupted: interruption.signal,
      // As a signal does: only while the event loop turns.
      onOut: () => void setImmediate(() => interruption.abort(new Interrupted('SIGINT'))),
    })
    expect(code).toBe(130)
  },
)

test('help goes to stdout, with the options that all commands have, and exits with 0', async () => {
  for (const argv of [[], ['--help'], ['help'], ['ls', '--help'], ['help', 'ls']]) {
    const { code, out, err } = await cli(argv)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^Usage: sluice /)
    expect(out).toContain('--store <URL>')
  }
  expect(await output(['--version'])).toMatch(/^\d+\.\d+\.\d+\n$/)
})

test('keys are read from stdin, and a bad line is named', async () => {
  const store = newFile()
  const stdin = Array.from({ length: 250 }, (_, at) => `order/${at}`)
  expect(await output(['add', 'orders', '--stdin'], { store, stdin })).toBe('250 added\n')
  expect(await output(['add', 'orders', '--stdin'], { store, stdin: ['order/1', 'new'] })).toBe(
    '1 added, 1 unchanged\n',
  )
  const items = ['{"id":1}', '{"id":1}', '"text"']
  expect(await output(['add', 'orders', '--stdin', '--items'], { store, stdin: items })).toBe(
    '2 added, 1 unchanged\n',
  )
  const { code, err } = await cli(['add', 'orders', '--stdin', '--items'], {
    store,
    stdin: ['1', '', '{', '2'],
  })
  expect(code).toBe(2)
  expect(err).toContain('line 3 cannot be added: it must be JSON')
  expect(err).toContain('; the lines before it were added')
  const argv = ['add', 'orders', '--stdin', '--items']
  expect(await json(argv, { store, stdin: ['1', '2'] })).toEqual({
    ...{ queue: 'orders', added: 1, moved: 0, unchanged: 1, parked: 0, full: 0 },
  })
})

test('an item that cannot be its own key is a usage error; read from stdin, it is a bad line', async () => {
  const store = newFile()
  const long = JSON.stringify('x'.repeat(600))
  const says = 'item must be at most 512 bytes of UTF-8; got 600 bytes'
  const one = await cli(['add', 'orders', '--item', long], { store })
  expect(one.code).toBe(2)
  expect(one.err).toContain(says)
  const argv = ['add', 'orders', '--stdin', '--items']
  const many = await cli(argv, { store, stdin: ['1', long, '2'] })
  expect(many.code).toBe(2)
  expect(many.err).toContain(`line 2 cannot be added: ${says}`)
  expect(await output(['ls', 'orders', '-o', 'name'], { store })).toBe('json:1\n')
})

test('an item with a number that would be stored as another one is refused', async () => {
  const store = newFile()
  const item = '{"id":12345678901234567891}'
  const says = 'has the number 12345678901234567891, which would become 12345678901234567000'
  const one = await cli(['add', 'orders', 'a', '--item', item], { store })
  expect(one).toMatchObject({ code: 2, out: '' })
  expect(one.err).toContain(`--item ${says}; write it as a string [ERR_USAGE]`)
  const argv = ['add', 'orders', '--stdin', '--items']
  const many = await cli(argv, { store, stdin: ['"12345678901234567891"', item] })
  expect(many.code).toBe(2)
  expect(many.err).toContain(`line 2 cannot be added: it ${says}`)
  const names = await output(['ls', 'orders', '-o', 'name'], { store })
  expect(names).toBe('12345678901234567891\n')
})

test('lines of stdin are looked up a hundred at a time, so that a store far away answers in time', async () => {
  const stdin = Array.from({ length: 201 }, (_, at) => `order/${at}`)
  const { err } = await cli(['add', 'orders', '--stdin'], { store: newFile(), stdin, isTTY: true })
  expect(err.match(/\d+ lines/g)).toEqual(['100 lines', '200 lines', '201 lines'])
})

test('a key of stdin that needs an item is a bad line, unless it is stored; all other lines are added', async () => {
  const store = newFile()
  await output(['add', 'orders', 'json:{stored', '--item', '1'], { store })
  const stdin = ['a', '', 'json:{stored', 'json:{bad', 'b', 'json:{worse']
  const { code, err } = await cli(['add', 'orders', '--stdin'], { store, stdin })
  expect(code).toBe(2)
  expect(err).toContain("line 4 cannot be added: KEY must go on with JSON after 'json:'")
  expect(err).toContain('; the lines before it and some after it were added')
  const keys = (await output(['ls', 'orders', '-o', 'name'], { store })).split('\n')
  expect(keys.sort()).toEqual(['', 'a', 'b', 'json:{stored'])
})

test('a key that is stored keeps its item, and one that is copied from a list is the same key', async () => {
  const store = newFile()
  await output(['add', 'orders', 'order/42', '--item', '{"id":42}'], { store })
  expect(await output(['add', 'orders', 'order/42'], { store })).toBe('order/42 unchanged\n')
  expect(await output(['get', 'orders', 'order/42', '-o', 'json'], { store })).toContain('"id": 42')
  await output(['add', 'orders', '--item', '{"a":1}'], { store })
  await output(['remove', 'orders', 'json:{"a":1}'], { store })
  expect(await output(['add', 'orders', 'json:{"a":1}'], { store })).toBe('json:{"a":1} added\n')
  expect(await output(['get', 'orders', 'json:{"a":1}', '-o', 'json'], { store })).toContain(
    '"a": 1',
  )
})

test('conformance hands over to the suite, with its words and its exit codes', async () => {
  expect(await output(['conformance', '--list', '--only', 'subject'])).toContain(
    'subject.isolated  two subjects do not see each other\n',
  )
  expect(await cli(['conformance'])).toMatchObject({ code: 2, out: '' })
  const folder = scratchFolder()
  const memory = import.meta.resolve('@sluice/memory')
  const testing = import.meta.resolve('@sluice/core/testing')
  writeFileSync(
    join(folder, 'subject.mjs'),
    `import { memoryDriver } from ${JSON.stringify(memory)}
     import { fakeClock } from ${JSON.stringify(testing)}
     export const create = () => ({ driver: memoryDriver(), clock: fakeClock() })`,
  )
  const argv = ['conformance', './subject.mjs', '--only', 'done', '--seed', '7']
  expect(await output(argv, { cwd: folder })).toMatch(
    /^memory, seed 7\n[\s\S]*^[1-9]\d* kept, 0 broken/m,
  )
  const document = await output([...argv, '-o', 'json'], { cwd: folder })
  expect(JSON.parse(document)).toMatchObject({ driver: 'memory', tally: { failed: 0 } })
})

test('with -o json, the list of cases and errors of the suite are documents', async () => {
  const list = await output(['conformance', '--list', '--only', 'subject', '-o', 'json'])
  expect(list).toMatch(/^\{/)
  const { cases } = JSON.parse(list) as { cases: readonly unknown[] }
  expect(cases[0]).toMatchObject({ id: 'subject.isolated' })
  const { code, out, err } = await cli(['conformance', '--only', 'nonsense', '-o', 'json'])
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(/^\{/)
  expect(JSON.parse(err)).toEqual({
    error: { code: 'ERR_USAGE', message: '--only nonsense: no such case; see --list', exitCode: 2 },
  })
  const folder = scratchFolder()
  writeFileSync(join(folder, 'none.mjs'), 'export const create = () => ({ driver: {} })')
  const argv = ['conformance', './none.mjs', '-o', 'json']
  const none = await cli(argv, { cwd: folder })
  expect([none.code, none.out]).toEqual([1, ''])
  expect(JSON.parse(none.err)).toEqual({
    error: {
      code: 'ERR_UNSUPPORTED',
      message: expect.stringContaining('these verbs are required'),
      exitCode: 1,
    },
  })
})
