import assert from 'node:assert/strict'
import { execFileSync, fork, spawnSync } from 'node:child_process'
import { readdirSync, realpathSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { getuid } from 'node:process'
import { type Driver, type ErrorCode, SluiceError } from '@sluice/core'
import { needs } from '@sluice/needs'
import { bundled } from '@sluice/needs/bundled'
import { examineStore, sqliteDriver } from '@sluice/sqlite'
import { describe, onTestFinished, test } from 'vitest'
import { scratchFile, scratchFolder } from './scratch.ts'
import { ask, askOptions, claimRequest } from './store.ts'

// The same faults as in faults.test.ts, but real ones: a disk that is full, a file system that
// cannot be written to, a file that another process has locked, and a system that fails or kills at
// every call.

function works(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

const canMount = needs(
  'leave to mount a file system',
  getuid?.() === 0 && works('unshare', ['--mount', 'true']),
)
const canTrace = needs('strace', works('strace', ['-V']))

/** A small file system of its own, for as long as the test lasts. */
function mounted(size: string): string {
  const folder = scratchFolder()
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder])
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', folder])
  })
  return folder
}

async function codeOf(call: () => unknown): Promise<ErrorCode | undefined> {
  try {
    await call()
    return undefined
  } catch (error) {
    assert.ok(SluiceError.is(error), String(error))
    return error.code
  }
}

async function keysOf(driver: Driver): Promise<Set<string>> {
  const keys = new Set<string>()
  let cursor: string | undefined
  do {
    const page = await driver.list('q', { limit: 1_000, ...(cursor !== undefined && { cursor }) })
    for (const { key } of page.rows) keys.add(key)
    cursor = page.cursor
  } while (cursor !== undefined)
  return keys
}

describe.skipIf(!canMount)('a file system of its own', () => {
  test('that is full: no acknowledged write is lost, and work continues once there is room', async () => {
    const folder = mounted('2m')
    const ballast = join(folder, 'ballast')
    writeFileSync(ballast, Buffer.alloc(400_000))
    const driver = sqliteDriver({ file: join(folder, 'queue.db'), durability: 'power' })
    await driver.open({})
    const added = new Set<string>()
    let code: ErrorCode | undefined
    for (let batch = 0; code === undefined; batch += 1) {
      const keys = Array.from({ length: 50 }, (_, index) => `key-${batch}-${index}`)
      code = await codeOf(() => driver.add('q', keys.map(ask), askOptions))
      if (code === undefined) for (const key of keys) added.add(key)
    }
    assert.equal(code, 'ERR_STORE_FULL')
    assert.ok(added.size > 100)
    const [held] = await (async () => {
      // Taking and finishing need room too; they fail in the same way, or find some that is left.
      try {
        return (await driver.claim('q', claimRequest())).claims
      } catch (error) {
        assert.ok(SluiceError.is(error, 'ERR_STORE_FULL'), String(error))
        return []
      }
    })()
    rmSync(ballast)
    assert.deepEqual(await keysOf(driver), added, 'what was refused is not there, the rest is')
    const claim = held ?? (await driver.claim('q', claimRequest())).claims[0]
    assert.ok(claim)
    const { key, token } = claim
    const [reply] = await driver.finish('q', [{ as: 'done', key, token, forget: true }], askOptions)
    assert.equal(reply?.outcome, 'idle')
    await driver.add('q', [ask('later')], askOptions)
    await driver.close()
    assert.deepEqual((await examineStore({ file: join(folder, 'queue.db') })).findings, [])
  })

  test('that has no room for a longer log: the log is used again', async () => {
    const driver = sqliteDriver({ file: join(mounted('1m'), 'queue.db'), durability: 'process' })
    await driver.open({})
    const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`)
    // Several times as much as there is room for: the log alone would take 16 MiB before it is emptied.
    for (let round = 0; round < 100; round += 1) {
      await driver.add('q', keys.map(ask), askOptions)
      const { claims } = await driver.claim('q', claimRequest(keys.length))
      assert.equal(claims.length, keys.length)
      const done = claims.map(
        ({ key, token }) => ({ as: 'done', key, token, forget: true }) as const,
      )
      await driver.finish('q', done, askOptions)
    }
    await driver.close()
  })

  test('on which there is no room for a new file', async () => {
    const folder = mounted('64k')
    writeFileSync(join(folder, 'ballast'), Buffer.alloc(60_000))
    const driver = sqliteDriver({ file: join(folder, 'queue.db') })
    assert.equal(await codeOf(() => driver.open({})), 'ERR_STORE_FULL')
    rmSync(join(folder, 'ballast'))
    execFileSync('mount', ['-o', 'remount,size=4m', folder])
    await driver.open({})
    await driver.close()
  })

  test('whose last room a new file takes: it is there whole, or not at all', async () => {
    const folder = mounted('3m')
    const file = join(folder, 'queue.db')
    const codes = new Set<ErrorCode | undefined>()
    for (let kB = 4; kB <= 300; kB += 8) {
      const { bavail, bsize } = statfsSync(folder)
      writeFileSync(join(folder, 'ballast'), Buffer.alloc(bavail * bsize - kB * 1_024))
      const driver = sqliteDriver({ file })
      const code = await codeOf(() => driver.open({}))
      codes.add(code)
      await driver.close()
      rmSync(join(folder, 'ballast'))
      if (code === undefined || statOrNot(file) !== undefined) {
        assert.deepEqual((await examineStore({ file })).findings, [], `with ${kB} kB`)
      }
      for (const name of readdirSync(folder)) rmSync(join(folder, name))
    }
    assert.deepEqual(codes, new Set(['ERR_STORE_FULL', undefined]))
  })

  test('that cannot be written to, until it can', async () => {
    const folder = mounted('4m')
    const file = join(folder, 'queue.db')
    const driver = sqliteDriver({ file })
    await driver.open({})
    await driver.add('q', [ask('a')], askOptions)
    await driver.close()
    execFileSync('mount', ['-o', 'remount,ro', folder])
    await assert.rejects(async () => driver.open({}), /check the permissions .* \[ERR_STORE\]$/)
    assert.equal(await codeOf(() => sqliteDriver({ file: `${file}.new` }).open({})), 'ERR_STORE')
    execFileSync('mount', ['-o', 'remount,rw', folder])
    await driver.open({})
    assert.deepEqual(await keysOf(driver), new Set(['a']))
    await driver.close()
  })
})

test('the wait for a file that another process has locked does not block this process', async () => {
  const file = scratchFile()
  const driver = sqliteDriver({ file, durability: 'process' })
  await driver.open({})
  const child = fork(new URL('children/lock-holder.ts', import.meta.url), [file], {
    execArgv: ['--conditions=sluice-source', '--disable-warning=ExperimentalWarning'],
  })
  await new Promise((resolve) => child.once('message', resolve))
  let isDone = false
  const adding = (async () => {
    await driver.add('q', [ask('a')], askOptions)
    isDone = true
  })()
  // Turns of this process, in each of which a timer could have renewed a lease.
  for (let turn = 0; turn < 20; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve)
    })
  }
  assert.equal(isDone, false)
  assert.deepEqual(await driver.queues?.(), [], 'reading needs no lock')
  child.send('let go')
  await adding
  assert.deepEqual(await keysOf(driver), new Set(['a']))
  await driver.close()
})

const program = new URL('children/one-step.ts', import.meta.url)

interface Traced {
  readonly lines: readonly string[]
  readonly wasHit: boolean
}

/** Runs the program with something done to the nth of its calls that concern the store. */
async function traced(file: string, calls: string, action: string, nth: number): Promise<Traced> {
  const paths = ['', '-wal', '-shm', '-journal'].flatMap((suffix) => ['-P', `${file}${suffix}`])
  const { stdout, status, signal } = spawnSync(
    'strace',
    [
      ...['-f', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`],
      ...['-e', `inject=${calls}:${action}:when=${nth}`, ...paths],
      ...[process.execPath, '--conditions=sluice-source', '--disable-warning=ExperimentalWarning'],
      ...[await bundled(program), file],
    ],
    { encoding: 'utf8' },
  )
  const lines = stdout.split('\n').filter((line) => line !== '')
  const isWhole = lines.at(-1) === 'end' && lines.every((line) => !line.startsWith('ERR_'))
  if (signal === null && status !== 0 && !action.startsWith('signal')) {
    throw new Error(`the program ended with ${status}: ${stdout}`)
  }
  return { lines, wasHit: !isWhole }
}

/** What must and what must not be there, by the replies to the program. */
function checkStored(lines: readonly string[], stored: ReadonlySet<string>): void {
  const told = (what: string): boolean => lines.some((line) => line.startsWith(`${what} `))
  const refused = (what: string): boolean =>
    lines.some((line) => /^ERR_STORE\w* /.test(line) && line.endsWith(` ${what}`))
  if (told('first')) assert.ok(stored.has('b'), 'b was added, and never taken')
  if (refused('first')) assert.ok(!stored.has('b'), 'b was refused')
  if (told('finish [{"outcome":"idle"')) assert.ok(!stored.has('a'), 'a was done')
  if (told('claim ["a"]') && refused('finish')) assert.ok(stored.has('a'), 'a is still held')
  if (told('last')) assert.ok(stored.has('c'), 'c was added')
  if (refused('last')) assert.ok(!stored.has('c'), 'c was refused')
}

// Every one of them by `SLUICE_SYSCALLS=all`, which takes minutes; otherwise some.
const isThorough = process.env['SLUICE_SYSCALLS'] === 'all'
const stride = isThorough ? 1 : 7

describe.skipIf(!canTrace)('whatever the system does at whichever call', () => {
  for (const [calls, action] of [
    ['pwrite64', 'signal=KILL'],
    ['fdatasync,fsync', 'signal=KILL'],
    ['unlink,link,ftruncate', 'signal=KILL'],
    ['pwrite64', 'error=EIO'],
    ['pwrite64', 'error=ENOSPC'],
    ['fdatasync,fsync', 'error=EIO'],
    ['pread64', 'error=EIO'],
  ] as const) {
    test(`${calls} ${action}`, { timeout: 600_000 }, async () => {
      let hits = 0
      for (let nth = 1; nth < 400; nth += stride) {
        const file = scratchFile()
        // Made beforehand in every second round, so that both making and using it are met.
        if (nth % 2 === 0) await (await opened(file)).close()
        const { lines, wasHit } = await traced(file, calls, action, nth)
        if (!wasHit) break
        hits += 1
        assert.ok(!lines.some((line) => line.startsWith('ERR_STORE_DAMAGED')), lines.join('; '))
        if (statOrNot(file) === undefined) {
          assert.ok(!lines.some((line) => line.startsWith('first ')), 'nothing was acknowledged')
          continue
        }
        const driver = await opened(file)
        checkStored(lines, await keysOf(driver))
        await driver.close()
        assert.deepEqual((await examineStore({ file })).findings, [])
      }
      assert.ok(hits > 0 || action.startsWith('error'), 'some call was hit')
    })
  }
})

test.skipIf(!canTrace)('a new file is on the disk with its name before it is used', async () => {
  const file = scratchFile()
  const folder = realpathSync(dirname(file))
  const { stderr } = spawnSync(
    'strace',
    [
      ...['-f', '-qq', '-y', '-e', 'trace=link,fsync,fdatasync'],
      ...[process.execPath, '--conditions=sluice-source', '--disable-warning=ExperimentalWarning'],
      ...[await bundled(program), file],
    ],
    { encoding: 'utf8' },
  )
  const calls = stderr.split('\n')
  const linked = calls.findIndex((call) => call.includes('link(') && call.includes(`"${file}")`))
  const used = calls.findIndex((call) => call.includes(`<${join(folder, basename(file))}-wal>`))
  const between = calls.slice(linked, used)
  assert.ok(linked >= 0 && used > linked, stderr)
  assert.ok(
    between.some((call) => call.includes('fsync(') && call.includes(`<${folder}>`)),
    stderr,
  )
})

async function opened(file: string): Promise<Driver> {
  const driver = sqliteDriver({ file })
  await driver.open({})
  return driver
}

function statOrNot(path: string): object | undefined {
  return statSync(path, { throwIfNoEntry: false })
}
