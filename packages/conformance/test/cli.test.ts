import { describe, expect, test } from 'vitest'
import { type CommandLineWorld, exitCodes, runCommandLine } from '../src/cli.ts'

interface Run {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function run(...argv: readonly string[]): Promise<Run> {
  let out = ''
  let err = ''
  const world: CommandLineWorld = {
    cwd: `${import.meta.dirname}/fixtures`,
    isTerminal: argv.includes('--json'),
    out(text) {
      out += text
    },
    err(text) {
      err += text
    },
  }
  return { code: await runCommandLine(argv, world), out, err }
}

describe('a driver that keeps every promise', () => {
  test('passes, with a table by promise and the seed', async () => {
    const { code, out, err } = await run('./model.ts', '--only', 'done', '--seed', '7')
    expect(code).toBe(exitCodes.ok)
    expect(out).toMatch(/model.*, seed 7/)
    expect(out).toMatch(/^promise +kept +broken +skipped +not asked +not met$/m)
    expect(out).toMatch(/^done +10 +· +· +· +·$/m)
    expect(err).toBe('')
  })

  test('fails if an exception is not needed', async () => {
    const { code, out } = await run(
      './model.ts',
      '--only',
      'add.claimable',
      '--except',
      'add.claimable=it seemed hard',
    )
    expect(code).toBe(exitCodes.failed)
    expect(out).toContain('remove the exception for it: it seemed hard')
  })
})

describe('a driver that breaks a promise', () => {
  test('fails, with the calls and the command that repeats it', async () => {
    const { code, out } = await run('./forgetful.ts', '--only', 'done.dirty', '--seed', '7')
    expect(code).toBe(exitCodes.failed)
    expect(out).toContain(
      'done.dirty.requeues: a key added while claimed is ready again after done',
    )
    expect(out).toContain('Calls and answers:')
    expect(out).toContain(
      'Repeat: sluice-conformance ./forgetful.ts --only done.dirty.requeues --seed 7',
    )
  })

  test('is repeated with the amounts that were given, without which it might pass', async () => {
    const amounts = ['--model-runs', '90', '--histories', '9', '--timeout-ms', '9000']
    const { out } = await run('./forgetful.ts', '--only', 'done.dirty', '--seed', '7', ...amounts)
    expect(out).toContain(`--only done.dirty.requeues --seed 7 ${amounts.join(' ')}\n`)
  })

  test('passes if an exception is declared, with the reason', async () => {
    const { code, out } = await run(
      './forgetful.ts',
      '--only',
      'done.dirty',
      '--except',
      'done.dirty.requeues=keys of ours never change',
    )
    expect(code).toBe(exitCodes.ok)
    expect(out).toContain('not met: done.dirty.requeues: keys of ours never change')
  })

  test('is shown the shortest history that tells it from the model', async () => {
    const { out } = await run('./forgetful.ts', '--only', 'model', '--seed', '7')
    expect(out).toContain('replayPath=')
    expect(out).toMatch(/\n {2}add to \d/)
  })

  test('fails in JSON too, and progress does not get into it', async () => {
    const { code, out, err } = await run('./forgetful.ts', '--only', 'done', '--json')
    expect(code).toBe(exitCodes.failed)
    const report = JSON.parse(out) as {
      readonly tally: { readonly failed: number }
      readonly results: readonly { readonly id: string; readonly history?: readonly string[] }[]
    }
    expect(report.tally.failed).toBe(2)
    const broken = report.results.find(({ id }) => id === 'done.dirty.requeues')
    expect(broken?.history?.length).toBeGreaterThan(3)
    expect(err).toBe('')
  })
})

test('a case may take as long as --timeout-ms says', async () => {
  const { code, out } = await run('./slow.ts', '--only', 'done.idle', '--timeout-ms', '50')
  expect(code).toBe(exitCodes.failed)
  expect(out).toContain('the case did not end within 50 ms of real time')
})

test('missing required verbs are reported before any case runs', async () => {
  const { code, out, err } = await run('./unfinished.ts')
  expect(code).toBe(exitCodes.failed)
  expect(out).toBe('')
  expect(err).toContain('unfinished has no add, no claim, no finish, no list')
})

test('a subject that cannot be created is reported with its error', async () => {
  const { code, out, err } = await run('./unreachable.ts')
  expect(code).toBe(exitCodes.failed)
  expect(out).toBe('')
  expect(err).toBe('./unreachable.ts gives no subject: the server is not there\n')
})

test('the cases can be listed', async () => {
  const { code, out } = await run('--list', '--only', 'subject')
  expect(code).toBe(exitCodes.ok)
  expect(out).toContain('subject.isolated  two subjects do not see each other\n')
})

test('with --json the list is one document', async () => {
  const { code, out } = await run('--list', '--json', '--only', 'subject')
  expect(code).toBe(exitCodes.ok)
  expect(out).toMatch(/^\{/)
  const { cases } = JSON.parse(out) as { cases: readonly unknown[] }
  expect(cases[0]).toEqual({ id: 'subject.isolated', title: 'two subjects do not see each other' })
  expect(cases.length).toBeGreaterThan(1)
})

test('a group of cases is chosen as documents name it, or by its name', async () => {
  const [named, written] = [
    await run('--list', '--only', 'done'),
    await run('--list', '--only', 'done.*'),
  ]
  expect(written.code).toBe(exitCodes.ok)
  expect(written.out).toBe(named.out)
})

describe('a usage error prints the usage', () => {
  test.each([
    [[], 'name one module'],
    [['./model.ts', './forgetful.ts'], 'name one module'],
    [['./nothing.ts'], 'cannot be loaded'],
    [['./empty.ts', '--only', 'done'], 'does not export a function create'],
    [['./model.ts', '--only', 'nonsense'], 'no such case'],
    [['./model.ts', '--except', 'nonsense=why'], 'no such case'],
    [['./model.ts', '--except', 'done.idle'], 'a reason is missing'],
    [['./model.ts', '--seed', 'x'], '--seed must be a whole number'],
    [['./model.ts', '--model-runs', '0'], '--model-runs must be at least 1; got 0'],
    [['./model.ts', '--histories=-1'], '--histories must be at least 1; got -1'],
    [['./model.ts', '--timeout-ms', '0'], '--timeout-ms must be at least 1; got 0'],
    [['./model.ts', '--hint-ms', 'soon'], '--hint-ms must be a whole number; got soon'],
    [['./model.ts', '--nonsense'], 'nonsense'],
  ])('%j', async (argv, words) => {
    const { code, err } = await run(...argv)
    expect(code).toBe(exitCodes.usage)
    expect(err).toContain(words)
    expect(err).toContain('Usage: sluice-conformance <module>')
  })
})
