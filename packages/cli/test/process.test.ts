import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { needs } from '@sluice/needs'
import { describe, expect, test } from 'vitest'
import { cli, output, scratchFolder } from './cli.ts'
import { shellEnv, start } from './program.ts'
import { newFile, storeKinds } from './stores.ts'

const hasProc = existsSync('/proc/self/cmdline')

async function many(): Promise<string> {
  const store = newFile()
  const stdin = Array.from({ length: 5_000 }, (_, at) => `order/${at}`)
  await output(['add', 'orders', '--stdin'], { store, stdin })
  return store
}

test('the program does the same as the command line in this process', async () => {
  const store = newFile()
  const add = await start(['add', 'orders', 'a'], { SLUICE_STORE: store }).ended
  expect(add).toEqual({ code: 0, signal: null, out: 'a added\n', err: '' })
  const missing = await start(['get', 'orders', 'b', '-s', store]).ended
  expect(missing).toMatchObject({ code: 4, out: '' })
})

test('a current folder that was deleted is an error in one line', () => {
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['-c', 'cd "$GONE" && rmdir "$GONE" && sluice queues -s ./queue.db'],
    {
      encoding: 'utf8',
      env: shellEnv({ GONE: scratchFolder() }),
    },
  )
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    // The shell that starts the program here may say so, too.
    stderr: expect.stringMatching(
      /^(sh: .*\n)?sluice: cannot run: the current folder was deleted .*; change to another folder\n$/,
    ),
  })
})

test('keys come through a pipe', async () => {
  const store = newFile()
  const program = start(['add', 'orders', '--stdin'], { SLUICE_STORE: store })
  program.child.stdin.end('a\nb\r\nc')
  expect(await program.ended).toMatchObject({ code: 0, out: '3 added\n' })
})

test('only a line feed ends a line, and a byte order mark is no part of the first', async () => {
  const store = newFile()
  const program = start(['add', 'orders', '--stdin'], { SLUICE_STORE: store })
  program.child.stdin.end('\ufeffa\n\ufeffb\nc\u2028d\u2029')
  expect(await program.ended).toMatchObject({ code: 0, out: '3 added\n' })
  const { keys } = JSON.parse(await output(['ls', 'orders', '-o', 'json'], { store }))
  const names = keys.map(({ key }: { key: string }) => key)
  expect(names.toSorted()).toEqual(['a', 'c\u2028d\u2029', '\ufeffb'])
})

describe('text that is not UTF-8, of which two keys could become one', () => {
  const latin = Buffer.from('order/1\ncaf\u00e9\ncaf\u00e8\n', 'latin1')

  test('is refused on stdin, after the lines before it', async () => {
    const store = newFile()
    const program = start(['add', 'orders', '--stdin'], { SLUICE_STORE: store })
    program.child.stdin.end(latin)
    expect(await program.ended).toMatchObject({
      code: 1,
      err: 'sluice: stdin cannot be read: line 2 is not UTF-8 [ERR_FILE]\n',
    })
    expect(await output(['ls', 'orders', '-o', 'name'], { store })).toBe('order/1\n')
  })

  test('is refused in a file', async () => {
    const file = join(scratchFolder(), 'orders.ndjson')
    writeFileSync(file, latin.subarray(8))
    const { code, err } = await cli(['import', 'orders', file], { store: newFile() })
    expect({ code, err }).toEqual({
      code: 1,
      err: 'sluice: the file cannot be read: line 1 is not UTF-8 [ERR_FILE]\n',
    })
  })
})

describe('an export through a pipe, which ends before the store is open', () => {
  test.each(storeKinds())('is imported into $kind', async ({ fresh }) => {
    const lines = await output(['export', 'orders'], { store: await many() })
    const program = start(['import', 'orders'], { SLUICE_STORE: await fresh() })
    program.child.stdin.end(lines)
    const ended = await program.ended
    expect(ended).toMatchObject({ code: 0, out: 'orders: 5000 imported, 0 merged, 0 unchanged\n' })
  })
})

/** Resolves when the file of a store exists: the command has begun. */
async function fileOf(store: string): Promise<void> {
  const file = store.slice('sqlite:'.length)
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (!existsSync(file)) return
      watcher.close()
      resolve()
    }
    const watcher = watch(dirname(file), look)
    look()
  })
}

describe('a signal', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends it with %d, in its own words', async (signal, code) => {
    const store = newFile()
    await output(['add', 'orders', 'a'], { store })
    const program = start(['queues', '--watch'], { SLUICE_STORE: store })
    await program.said('orders')
    program.child.kill(signal)
    expect(await program.ended).toMatchObject({ code, signal: null, err: '' })
  })

  test('ends what waits for input', async () => {
    const head = { sluice: 'queue', version: 1, queue: 'orders', exportedAt: 0, lastToken: 0 }
    const first = {
      import: `${JSON.stringify(head)}\n`,
      add: Array.from({ length: 2_000 }, (_, at) => `${at}\n`).join(''),
    }
    for (const [command, input] of Object.entries(first)) {
      const argv = command === 'add' ? ['add', 'orders', '--stdin'] : ['import', 'orders']
      const store = newFile()
      const program = start(argv, { SLUICE_STORE: store })
      program.child.stdin.write(input)
      await fileOf(store)
      program.child.kill('SIGINT')
      expect(await program.ended).toMatchObject({ code: 130, signal: null })
    }
  })

  test('ends a drain, and leaves the store as it was', async () => {
    const store = newFile()
    const program = start(['drain', 'orders'], { SLUICE_STORE: store })
    expect((await program.ended).code).toBe(1)
    await output(['add', 'orders', 'a'], { store })
    const second = start(['drain', 'orders'], { SLUICE_STORE: store })
    await second.said('no workers')
    second.child.kill('SIGINT')
    expect((await second.ended).code).toBe(130)
    // The store is as it was, and free.
    expect(await output(['ls', 'orders', '-o', 'name'], { store })).toBe('a\n')
  })

  test('ends at once, as the second one, what the first one lets come to its end', async () => {
    const server = createServer((socket) => void socket.on('error', () => {}))
    server.listen(0, '127.0.0.1')
    const connected = new Promise((resolve) => server.once('connection', resolve))
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    // Two signals that come at the same time are delivered in either order.
    const tell = `process.on('SIGINT', () => void process.stderr.write('heard'))`
    const options = `--import=data:text/javascript,${encodeURIComponent(tell)}`
    const env = { NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} ${options}` }
    // It does not answer, and the command waits for it.
    const program = start(['copy', `postgres://u@127.0.0.1:${port}/x`, newFile()], env)
    await connected
    program.child.kill('SIGINT')
    await program.said('heard')
    program.child.kill('SIGTERM')
    expect(await program.ended).toMatchObject({ code: 143, signal: null })
    server.close()
  })
})

describe('a reader that has seen enough', () => {
  test.each([
    ['ls', ['ls', 'orders', '--all']],
    ['export', ['export', 'orders']],
    ['queues --watch', ['queues', '--watch', '--interval', '100ms']],
    ['JSON', ['ls', 'orders', '--all', '-o', 'json']],
  ])('ends %s quietly', async (_, argv) => {
    const store = await many()
    const program = start(argv, { SLUICE_STORE: store })
    program.child.stdout.once('data', () => program.child.stdout.destroy())
    const changing = argv.includes('--watch') ? changes(store, program.ended) : undefined
    const { code, signal, err } = await program.ended
    await changing
    expect({ code, signal, err }).toEqual({ code: 0, signal: null, err: '' })
  })

  /** Gives a watch changes to print, until it notices that its reader has gone. */
  async function changes(store: string, ended: Promise<unknown>): Promise<void> {
    let isOver = false
    void ended.then(() => {
      isOver = true
    })
    for (let at = 0; !isOver; at += 1) {
      await output(['add', 'orders', `new/${at}`], { store })
      // So that the end of the program can be heard of.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  test('is a shell as well', async () => {
    const store = await many()
    const { status, stdout, stderr } = spawnSync(
      'bash',
      ['-c', 'set -o pipefail; sluice ls orders --all --no-headers | head -n 1'],
      {
        encoding: 'utf8',
        env: shellEnv({ SLUICE_STORE: store }),
      },
    )
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/^order\/0 +ready/)
  })
})

test.skipIf(!needs('a /proc to look into', hasProc))(
  'a list of processes does not show the address of the store',
  async () => {
    const store = newFile()
    await output(['add', 'orders', 'a'], { store })
    const program = start(['queues', '--watch', '--store', store])
    await program.said('orders')
    const seen = readFileSync(`/proc/${program.child.pid}/cmdline`, 'utf8')
    expect(seen).not.toContain(store)
    expect(seen.replaceAll('\0', '')).toBe('sluice')
  },
)

describe('only what is needed is loaded', () => {
  /** The files that a run has loaded. */
  async function loaded(argv: readonly string[], store: string): Promise<string> {
    const folder = scratchFolder()
    const { code } = await start(argv, { SLUICE_STORE: store, NODE_V8_COVERAGE: folder }).ended
    expect(code).toBe(0)
    const [file = ''] = readdirSync(folder)
    const { result } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      result: { url: string }[]
    }
    return result.map(({ url }) => url).join('\n')
  }

  test('help needs no driver', async () => {
    const files = await loaded(['--help'], '')
    expect(files).toContain('/cli/src/run-cli.ts')
    expect(files).not.toMatch(
      /\/(?:pg|hono|better-sqlite3|fast-check)\/|packages\/(?:sqlite|postgres|queue)\//,
    )
  })

  test('SQLite needs no Postgres, and the other way round', async () => {
    const store = newFile()
    await output(['migrate'], { store })
    const files = await loaded(['queues'], store)
    expect(files).toContain('/sqlite/src/')
    expect(files).not.toMatch(/\/(?:pg|hono|fast-check)\/|packages\/postgres\//)
    const sql = await loaded(['migrate', '--print-sql'], 'postgres://nobody@nowhere/db')
    expect(sql).not.toContain('/sqlite/src/')
  })
})

test('without the conformance suite, the command says how to install it', async () => {
  const script = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`
  // `registerHooks`, which needs no second script, is not in the oldest Node.
  const hook = script(`export async function resolve(name, context, next) {
  if (name.startsWith('@sluice/conformance')) throw Object.assign(new Error(name), { code: 'ERR_MODULE_NOT_FOUND' })
  return next(name, context)
}`)
  const loader = script(`import { register } from 'node:module'; register(${JSON.stringify(hook)})`)
  const env = { NODE_OPTIONS: `--import=${loader}` }
  const { code, err } = await start(['conformance', './driver.js'], env).ended
  expect({ code, err }).toMatchObject({
    code: 1,
    err: expect.stringContaining('npm install --save-dev @sluice/conformance'),
  })
  expect((await start(['--version'], env).ended).code).toBe(0)
})

// A device that is always full.
test.skipIf(!existsSync('/dev/full'))(
  'output that is lost is a failure, as that of a backup is',
  async () => {
    const store = newFile()
    await output(['add', 'orders', 'a'], { store })
    for (const command of ['export orders', 'queues', 'ls orders -o json', '--help', '--version']) {
      const { status, stderr } = spawnSync('bash', ['-c', `sluice ${command} > /dev/full`], {
        encoding: 'utf8',
        env: shellEnv({ SLUICE_STORE: store }),
      })
      expect({ command, status }).toEqual({ command, status: 1 })
      expect(stderr).toContain('the output cannot be written: ENOSPC')
      expect(stderr).not.toContain('written\n')
    }
  },
)
