import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import type { Clock } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { beforeEach, expect, test } from 'vitest'
import { cli, type Ended, json, output, scratchFolder } from './cli.ts'

let folder: string
let env: Record<string, string>
beforeEach(() => {
  folder = scratchFolder()
  env = { XDG_CONFIG_HOME: join(folder, 'config') }
})
const run = (...argv: string[]): Promise<Ended> => cli(argv, { env, cwd: folder })
const must = (...argv: string[]): Promise<string> => output(argv, { env, cwd: folder })

test('a context names a store, and the first one is used where none is named', async () => {
  await must('config', 'set', 'dev', 'sqlite:./dev.db')
  await must('config', 'set', 'prod', './prod.db')
  await must('add', 'orders', 'a')
  await must('add', 'mails', 'b', '--context', 'prod')
  expect(await must('queues', '-o', 'name')).toBe('orders\n')
  // From another folder, too: the path is kept whole.
  const elsewhere = { env, cwd: scratchFolder() }
  expect(await output(['queues', '-o', 'name', '--context', 'prod'], elsewhere)).toBe('mails\n')
  await must('config', 'use', 'prod')
  expect(await must('queues', '-o', 'name')).toBe('mails\n')
  expect(await json(['config'], { env, cwd: folder })).toEqual({
    file: join(folder, 'config/sluice/config.json'),
    contexts: [
      { name: 'dev', store: `sqlite:${folder}/dev.db`, isCurrent: false },
      { name: 'prod', store: `sqlite:${folder}/prod.db`, isCurrent: true },
    ],
  })
  expect(statSync(join(folder, 'config/sluice/config.json')).mode & 0o077).toBe(0)
})

test.each([
  ['set', 'new', './new.db'],
  ['use', 'prod'],
  ['delete', 'dev'],
])('-o json of config %s is that of config, after the change', async (...words) => {
  await must('config', 'set', 'dev', 'sqlite:./dev.db')
  await must('config', 'set', 'prod', './prod.db')
  const changed = await json(['config', ...words], { env, cwd: folder })
  expect(changed).toEqual(await json(['config'], { env, cwd: folder }))
})

test('a file with an address is found from everywhere, and what is used stays when another is deleted', async () => {
  writeFileSync(join(folder, 'address'), `sqlite:${folder}/dev.db\n`)
  await must('config', 'set', 'dev', '@address')
  await must('config', 'set', 'prod', './prod.db')
  await must('add', 'orders', 'a')
  await must('config', 'delete', 'prod')
  const elsewhere = { env, cwd: scratchFolder() }
  expect(await output(['queues', '-o', 'name'], elsewhere)).toBe('orders\n')
})

test('completion offers the names of the store that the words name', async () => {
  await must('config', 'set', 'dev', 'sqlite:./dev.db')
  await must('config', 'set', 'prod', './prod.db')
  await must('add', 'orders', 'a')
  await must('add', 'mails', 'b', '--context', 'prod')
  const patient = { env: { ...env, SLUICE_COMPLETION_TIMEOUT: '1m' }, cwd: folder }
  const offered = (...words: string[]) => output(['__complete', '--', ...words, ''], patient)
  expect(await offered('ls')).toBe('orders\n')
  expect(await offered('--context', 'prod', 'ls')).toBe('mails\n')
  expect(await offered('get', '--context=prod', 'mails')).toBe('b\n')
  expect(await offered('-sprod.db', '-ojson', 'ls')).toBe('mails\n')
})

test('-s wins over SLUICE_STORE, and that over the current context', async () => {
  for (const name of ['context', 'variable', 'option'])
    await must('add', name, 'a', '-s', `./${name}.db`)
  await must('config', 'set', 'dev', './context.db')
  const named = { ...env, SLUICE_STORE: './variable.db' }
  const all = (argv: string[], variables: Record<string, string>): Promise<string> =>
    output(['queues', '-o', 'name', ...argv], { env: variables, cwd: folder })
  expect(await all([], env)).toBe('context\n')
  expect(await all([], named)).toBe('variable\n')
  expect(await all(['-s', './option.db'], named)).toBe('option\n')
  expect(await all(['--context', 'dev'], named)).toBe('context\n')
  expect((await run('queues', '-s', './option.db', '--context', 'dev')).err).toContain(
    '-s and --context both name a store',
  )
})

test('an option that is empty leads to no other store or keys than those it was to name', async () => {
  await must('add', 'orders', 'a', '-s', './other.db')
  await must('config', 'set', 'prod', './other.db')
  expect((await run('config', 'set', '', './other.db')).err).toContain('name a context')
  const purge = ['purge', 'orders', '--yes']
  const other = { ...env, SLUICE_STORE: './other.db' }
  const remove = ['remove', 'orders', '--all', '--yes', '--prefix', '']
  for (const line of [
    [...purge, '-s', ''],
    [...purge, '--store='],
    [...purge, '--context', ''],
    remove,
  ]) {
    const { code, err } = await cli(line, { env: other, cwd: folder })
    expect([code, err]).toEqual([2, expect.stringMatching(/--(store|context|prefix) is empty/)])
  }
  expect(await must('ls', 'orders', '-o', 'name')).toBe('a\n')
})

test('SQL is printed for the schema of a context', async () => {
  await must('config', 'set', 'jobs', 'postgres://me@nowhere/db?schema=jobs')
  await must('config', 'set', 'mails', 'postgres://me@nowhere/db?schema=mails')
  expect(await must('migrate', '--print-sql')).toContain('create schema if not exists "jobs"')
  const roles = ['--roles', '--owner', 'o', '--runtime', 'r', '--read-only', 'v']
  expect(await must('migrate', ...roles, '--context', 'mails')).toContain('on schema "mails"')
})

test('no password is kept: it is in a file or in a variable', async () => {
  const refused = await run('config', 'set', 'prod', 'postgres://me:hunter2@host/db')
  expect(refused.code).toBe(2)
  expect(refused.err).toContain('contains a password, which is not stored')
  expect(refused.err).not.toContain('hunter2')
  expect((await run('config')).out).toBe('')

  writeFileSync(join(folder, 'address'), './from-file.db\n')
  await must('config', 'set', 'file', '@address')
  await must('add', 'from-file', 'a')
  await must('config', 'set', 'variable', '$MY_STORE')
  const missing = await run('queues', '--context', 'variable')
  expect(missing.err).toContain('the store in $MY_STORE, which is not set')
  env['MY_STORE'] = ''
  expect((await run('queues', '--context', 'variable')).err).toBe(missing.err)
  env['MY_STORE'] = './from-file.db'
  expect(await must('queues', '-o', 'name', '--context', 'variable')).toBe('from-file\n')
  expect(readFileSync(join(folder, 'config/sluice/config.json'), 'utf8')).not.toContain('from-file')
})

test('a context that is not there is refused, with the name that was probably meant', async () => {
  await must('config', 'set', 'production', './p.db')
  expect((await run('queues', '--context', 'prodution')).err).toContain('did you mean production?')
  expect((await run('queues', '--context', 'toString')).err).toContain('no context toString')
  expect((await run('config', 'use', 'x')).code).toBe(4)
  await must('config', 'delete', 'production')
  expect((await run('queues')).err).toContain('no store is given')
})

test('a file of contexts that is a link stays one, and what it names is changed', async () => {
  const file = join(folder, 'kept.json')
  writeFileSync(file, '{"stores":{}}')
  symlinkSync(file, join(folder, 'link.json'))
  env['SLUICE_CONFIG'] = 'link.json'
  await must('config', 'set', 'dev', './dev.db')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ current: 'dev' })
  expect(await must('config', '-o', 'name')).toBe('dev\n')
})

test('what cannot be read as contexts is named, and left alone', async () => {
  const file = join(folder, 'mine.json')
  const strange = ['{"stores":{"a":1}}', '{"stores":"a"}', '{"stores":{},"current":1}']
  for (const text of ['{', '[]', 'null', ...strange]) {
    writeFileSync(file, text)
    env['SLUICE_CONFIG'] = 'mine.json'
    const { code, err } = await run('config', 'set', 'dev', './dev.db')
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining(file) })
    expect(readFileSync(file, 'utf8')).toBe(text)
  }
})

test.each([
  ['.', 'cannot be read'],
  ['file/config.json', 'cannot be written'],
  // The name of the lock is as long as a name may be, and that of the draft is longer.
  ['x'.repeat(250), 'cannot be written'],
])('a file of contexts that is no file is named at once: %s', async (file, words) => {
  writeFileSync(join(folder, 'file'), '')
  env['SLUICE_CONFIG'] = file
  const { code, err } = await run('config', 'set', 'dev', './dev.db')
  const path = resolve(folder, file)
  expect({ code, err }).toEqual({ code: 1, err: `sluice: ${path} ${words} [ERR_FILE]\n` })
})

test.each([
  [['config', 'set', 'dev'], 'a context is set to one store'],
  [['config', 'use'], 'name a context'],
  [['config', 'list', 'dev'], 'takes no NAME: it lists all contexts'],
  [['config', 'use', 'dev', './dev.db'], 'a context is set to one store'],
  [['config', 'set', 'dev', 'nonsense'], 'is not the address of a store'],
])('%j is a usage error', async (argv, words) => {
  const { code, err } = await run(...argv)
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining(words) })
})

test('names are completed', async () => {
  await must('config', 'set', 'production', './p.db')
  const completed = (...words: string[]): Promise<string> => must('__complete', '--', ...words)
  expect(await completed('queues', '--context', 'pr')).toBe('production\n')
  expect(await completed('queues', '--context=pr')).toBe('--context=production\n')
  expect(await completed('config', 'use', '')).toBe('production\n')
})

test('two processes that change the contexts lose none of their changes', async () => {
  const program = new URL('children/contexts-changer.ts', import.meta.url)
  const children = ['a', 'b'].map((name) =>
    fork(program, [name, '100'], {
      execArgv: ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings'],
      env: { ...process.env, ...env },
    }),
  )
  await Promise.all(children.map((child) => once(child, 'message')))
  const exiting = children.map((child) => once(child, 'exit'))
  for (const child of children) child.send('go')
  const exits = await Promise.all(exiting)
  expect(exits).toEqual([
    [0, null],
    [0, null],
  ])
  const names = (await must('config', '-o', 'name')).trim().split('\n')
  expect(names).toHaveLength(200)
  expect(readdirSync(join(folder, 'config/sluice'))).toEqual(['config.json'])
})

test('a change waits for another one, and names its lock when that does not end', async () => {
  const clock = fakeClock()
  const lock = join(folder, 'config/sluice/config.json.lock')
  mkdirSync(join(folder, 'config/sluice'), { recursive: true })
  writeFileSync(lock, '')
  const set = (name: string): Promise<Ended> =>
    cli(['config', 'set', name, './x.db'], { env, cwd: folder, clock })
  const first = set('first')
  await clock.step(1_000)
  expect(readdirSync(join(folder, 'config/sluice'))).toEqual(['config.json.lock'])
  rmSync(lock)
  await clock.step(10)
  expect((await first).code).toBe(0)

  writeFileSync(lock, '')
  const second = set('second')
  await clock.step(10_000)
  expect(await second).toMatchObject({ code: 1, err: expect.stringContaining(`${lock} exists`) })
})

test('a change that waits does not give up because the machine stood still meanwhile', async () => {
  const clock = fakeClock()
  let stoodMs = 0
  const jumping: Clock = {
    now: () => clock.now() + stoodMs,
    monotonicMs: () => clock.monotonicMs() + stoodMs,
    startTimer: (ms, act) => clock.startTimer(ms, act),
    startTicker: (ms, act) => clock.startTicker(ms, act),
  }
  const lock = join(folder, 'config/sluice/config.json.lock')
  mkdirSync(join(folder, 'config/sluice'), { recursive: true })
  writeFileSync(lock, '')
  const set = cli(['config', 'set', 'dev', './x.db'], { env, cwd: folder, clock: jumping })
  await clock.waitForWaiters(1)
  stoodMs = 60_000
  await clock.step(5)
  rmSync(lock)
  await clock.step(5)
  expect((await set).code).toBe(0)
})
