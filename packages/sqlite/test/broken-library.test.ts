/** Programs in which better-sqlite3 cannot be loaded, or the file is out of reach. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'
import { sqliteDriver } from '@sluice/sqlite'
import { onTestFinished, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { storeError } from '../src/connection/errors.ts'
import { scratchFile } from './scratch.ts'

/** How Node loads what a program requires. */
const Module = nodeModule as unknown as { _load: (...args: unknown[]) => unknown }

const program = `
const { sqliteDriver } = await import(${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)})
try {
  await sqliteDriver({ file: process.argv[1], library: process.argv[2] }).open({})
} catch ({ code, message, retryable }) {
  console.log(JSON.stringify({ code, message, retryable }))
}
`

/** The error with which a process of these flags opens a store. */
function refusal(flags: readonly string[], ...of: readonly string[]): unknown {
  const args = ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings']
  const said = execFileSync(
    process.execPath,
    [...args, ...flags, '--input-type=module', '-e', program, ...of],
    { cwd: import.meta.dirname, encoding: 'utf8' },
  )
  return JSON.parse(said)
}

test.each([
  [
    'whose binary is refused',
    '--no-addons',
    'Cannot load native addon because loading addons is disabled.',
  ],
  [
    'that may not make functions of texts',
    '--disallow-code-generation-from-strings',
    'Code generation from strings disallowed for this context',
  ],
])(
  'a better-sqlite3 %s says that flags of Node forbid it, and what else there is',
  (_why, flag, reason) => {
    assert.deepEqual(refusal([flag], scratchFile()), {
      code: 'ERR_STORE',
      message: `better-sqlite3 does not load: ${reason}; change the flags of Node, or set library: 'node:sqlite' [ERR_STORE]`,
      retryable: false,
    })
  },
)

test('a file that cannot be opened may lack a permission, or a file handle', () => {
  const cause = Object.assign(new Error('unable to open database file'), {
    code: 'SQLITE_CANTOPEN',
  })
  assert.equal(
    storeError(cause, 'opening', 'queue.db').message,
    'queue.db cannot be opened; check the permissions of the file and of its folder, and the limit of open files [ERR_STORE]',
  )
})

test('a better-sqlite3 for which no file handle is left is loaded later, and no other one instead', async () => {
  const { _load } = Module
  Module._load = (name, ...rest) => {
    if (name !== 'better-sqlite3') return _load(name, ...rest)
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
  }
  onTestFinished(() => {
    Module._load = _load
  })
  const driver = sqliteDriver({ file: scratchFile() })
  await assert.rejects(async () => driver.open({}), {
    message:
      'better-sqlite3 does not load: EMFILE: too many open files; raise the limit of open files, and restart the process [ERR_STORE]',
    retryable: true,
  })
  Module._load = _load
  await driver.open({})
  await driver.close()
})

test('a library that the runtime itself has or not is not one to install', () => {
  assert.deepEqual(refusal(['--no-experimental-sqlite'], scratchFile(), 'node:sqlite'), {
    code: 'ERR_STORE',
    message:
      'this runtime has no node:sqlite; run Node without --no-experimental-sqlite, or choose another library [ERR_STORE]',
    retryable: false,
  })
  assert.deepEqual(refusal([], scratchFile(), 'bun:sqlite'), {
    code: 'ERR_STORE',
    message: 'this runtime has no bun:sqlite; run it on Bun, or choose another library [ERR_STORE]',
    retryable: false,
  })
})

test('a file that the permissions of Node hide says so, and is not tried again', () => {
  const file = scratchFile()
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  assert.deepEqual(refusal(['--permission', `--allow-fs-read=${root}`], file, 'node:sqlite'), {
    code: 'ERR_STORE',
    message: `${file} cannot be reached: Access to this API has been restricted. Use --allow-fs-read to manage permissions. [ERR_STORE]`,
    retryable: false,
  })
})

test('a Node that is too old is refused before better-sqlite3 can end the process', async () => {
  const transfer = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'transfer')!
  Reflect.deleteProperty(ArrayBuffer.prototype, 'transfer')
  onTestFinished(() => {
    Object.defineProperty(ArrayBuffer.prototype, 'transfer', transfer)
  })
  const needed = manifest.engines.node.replace('>=', '')
  await assert.rejects(async () => sqliteDriver({ file: scratchFile() }).open({}), {
    code: 'ERR_STORE',
    message: `this Node is too old; install Node ${needed} or newer [ERR_STORE]`,
    retryable: false,
  })
})
