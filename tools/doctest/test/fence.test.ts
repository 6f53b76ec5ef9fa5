import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { fencesOf, firstWithSetup, notInstalled, packagesOf, promisedOutput } from '../src/fence.ts'
import { clearAway, complaints, execute, layOut } from '../src/workbench.ts'

function page(...lines: string[]): string {
  return lines.join('\n')
}

/** Without `ctrl-c` and `compat`. */
const unmarked = { isInterrupted: false, isCompat: false }

describe('finding fences', () => {
  test('a fence knows its line, its setup and whether it runs', () => {
    const text = page(
      '# T',
      '',
      '<!-- setup',
      'const a = 1',
      '-->',
      '```ts',
      'a',
      '```',
      '```ts no-run',
      'b',
      '```',
    )
    assert.deepEqual(fencesOf('a.md', text), [
      { path: 'a.md', line: 7, code: 'a', setup: 'const a = 1', runs: true, ...unmarked },
      { path: 'a.md', line: 10, code: 'b', setup: '', runs: false, ...unmarked },
    ])
  })

  test('other languages are passed over, with what they hold', () => {
    assert.deepEqual(
      fencesOf('a.md', page('````md', '```ts', 'x', '```', '````', '```tsx', '```')),
      [],
    )
  })

  test('a setup belongs to the fence right after it', () => {
    const text = page('<!-- setup', 'const a = 1', '-->', 'words', '```ts', 'a', '```')
    assert.equal(fencesOf('a.md', text)[0]?.setup, '')
  })

  test('indentation of a list is not part of the code', () => {
    const text = page('- x', '  ```ts', '  if (a) {', '    b', '  }', '  ```')
    assert.equal(fencesOf('a.md', text)[0]?.code, page('if (a) {', '  b', '}'))
  })

  test('doc comments are read, code is not', () => {
    const text = page('/**', ' * ```ts', ' * a', ' *   b', ' * ```', ' */', 'const x = "```ts"')
    assert.deepEqual(fencesOf('a.ts', text), [
      { path: 'a.ts', line: 3, code: 'a\n  b', setup: '', runs: true, ...unmarked },
    ])
  })

  test('a fence that needs other libraries is marked', () => {
    const [fence] = fencesOf('a.md', page('```ts compat', '// a.ts', '```'))
    assert.deepEqual([fence?.isCompat, fence?.code], [true, '// a.ts'])
  })

  test('an unknown word or an open end is an error', () => {
    assert.throws(() => fencesOf('a.md', page('```ts norun', '```')), /a\.md:1: what is "norun"/)
    assert.throws(() => fencesOf('a.md', page('```ts', 'a')), /never closed/)
  })

  test('packages are known by name', () => {
    const [fence] = fencesOf(
      'a.md',
      page(
        '```ts',
        "import { a } from '@sluice/core/testing'",
        "await import('sluice')",
        "import './x.ts'",
        '```',
      ),
    )
    assert.ok(fence)
    assert.deepEqual(packagesOf(fence), ['@sluice/core', 'sluice'])
  })
})

describe('the first fence of a README', () => {
  const withSetup = ['<!-- setup', 'const a = 1', '-->', '```ts', 'a', '```']
  const plain = ['```ts', '1', '```']
  const found = (path: string, ...lines: string[]) => firstWithSetup(fencesOf(path, page(...lines)))

  test('has no hidden setup', () => {
    assert.deepEqual(found('packages/a/README.md', ...withSetup, ...plain), [
      'packages/a/README.md:5',
    ])
    assert.deepEqual(found('README.md', ...plain, ...withSetup), [])
    assert.deepEqual(found('docs/guide.md', ...withSetup), [])
  })
})

describe('holding fences to their word', () => {
  const attempt = (...code: string[]) => attemptAs('```ts', ...code)
  const attemptAs = async (opening: string, ...code: string[]) => {
    const sheets = layOut(fencesOf('a.md', page(opening, ...code, '```')))
    const [sheet] = sheets
    assert.ok(sheet)
    const types = complaints(sheets).get(sheet)
    const outcome = await execute(sheet)
    clearAway(sheets)
    return { types, outcome }
  }

  test('a fence that is right', async () => {
    const { types, outcome } = await attempt(
      'const n: number = await Promise.resolve(1)',
      'console.log(n + 1) // => 2',
    )
    assert.deepEqual([types, outcome], [[], undefined])
  })

  test('one that does not compile, with the line of the page', async () => {
    const { types } = await attempt('', "const n: number = 'x'")
    assert.match(types?.[0] ?? '', /^a\.md:3: Type 'string'/)
  })

  test('one that throws', async () => {
    const { outcome } = await attempt("throw new Error('on purpose')")
    assert.match(outcome ?? '', /ended with 1[\s\S]*on purpose/)
  })

  test('one that prints something else', async () => {
    const { outcome } = await attempt("console.log('a') // => b")
    assert.match(outcome ?? '', /promises "b", but printed:\na/)
  })

  test('one that serves, on a port that no other program has', async () => {
    const { outcome } = await attempt(
      "import { createServer } from 'node:http'",
      "const server = createServer().listen(Number(process.env['PORT'] ?? 1), () => server.close())",
      'console.log(process.env.PORT) // => 0',
    )
    assert.equal(outcome, undefined)
  })

  test('one that runs until Ctrl-C, which comes after its output', async () => {
    const { outcome } = await attemptAs(
      '```ts ctrl-c',
      "process.on('SIGINT', () => clearInterval(living))",
      // real time: the program lives on a timer until it is interrupted.
      "const living = setInterval(() => console.log('a'), 1) // => a",
      '// => a',
    )
    assert.equal(outcome, undefined)
  })

  test('one that Ctrl-C does not end well', async () => {
    const { outcome } = await attemptAs(
      '```ts ctrl-c',
      // real time: the program lives on a timer until it is interrupted.
      "setInterval(() => console.log('a'), 1) // => a",
    )
    assert.match(outcome ?? '', /ended with SIGINT/)
  })

  test('what a page imports and does not say to install', () => {
    const lines = ["import 'a'", "import { b } from '@b/c/d'", "import 'node:fs'"]
    const code = page('```ts', ...lines, '```')
    assert.deepEqual(notInstalled('a.md', code), [])
    assert.deepEqual(notInstalled('a.md', `npm install a # @b/c\n${code}`), ['a.md: @b/c'])
    assert.deepEqual(notInstalled('a.md', `npm install a\nnpm install -D @b/c\n${code}`), [])
  })

  test('promises are read in order', () => {
    const [fence] = fencesOf(
      'a.md',
      page('```ts', 'console.log(1) // => 1', 'f() // => 3', 'console.log(2) // => 2', '```'),
    )
    assert.ok(fence)
    assert.deepEqual(promisedOutput(fence), ['1', '2'])
  })
})
