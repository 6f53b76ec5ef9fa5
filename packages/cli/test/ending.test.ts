import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { expect, test } from 'vitest'
import type { CommandSpec } from '../src/command.ts'
import type { Context } from '../src/context.ts'
import { Input } from '../src/input.ts'
import { Printer } from '../src/output/printer.ts'
import { Run } from '../src/run.ts'
import { describeProgram } from '../src/run-cli.ts'
import { Secrets } from '../src/stores/secrets.ts'
import { Interrupted, type Terminal } from '../src/terminal.ts'
import { output, scratchFolder } from './cli.ts'

const never = new AbortController().signal

/** How a command is run, apart from the clock. */
interface World {
  readonly options?: Readonly<Record<string, unknown>>
  readonly interrupted?: AbortSignal
  readonly endsAfterAbort?: boolean
}

/** Runs a command. */
function ended(run: CommandSpec['run'], clock: FakeClock, world: World = {}): Promise<number> {
  const { options = {}, interrupted = never, endsAfterAbort = false } = world
  const output = { isTTY: false, columns: undefined, closed: never, write: () => undefined }
  const terminal: Terminal = {
    stdin: { isTTY: false, async *lines() {} },
    stdout: output,
    stderr: output,
    env: {},
    cwd: '/',
    clock,
    interrupted,
    uniqueId: () => 'one',
    browse: async () => false,
  }
  const print = new Printer(terminal, { format: 'table', headers: true, colours: false })
  const spec: CommandSpec = { name: 'try', summary: 'try it', group: 'More', endsAfterAbort, run }
  const grammar = { program: describeProgram(), specs: [], globals: [] }
  const context = { terminal, print, secrets: new Secrets(), grammar }
  return new Run({ spec, input: new Input([], options) }, context).toEnd()
}

test('what does not close after an interruption delays the end of the rest by two seconds, and no longer', async () => {
  const clock = fakeClock()
  const interruption = new AbortController()
  const closed: string[] = []
  const ending = ended(
    async (context) => {
      context.defer(() => void closed.push('screen'))
      context.defer(() => new Promise(() => {}))
      interruption.abort(new Interrupted('SIGINT'))
    },
    clock,
    { interrupted: interruption.signal },
  )
  const outcome = expect(ending).rejects.toThrow('ended by SIGINT')
  await clock.step(1_999)
  expect(closed).toEqual([])
  // Otherwise the process would end before the rest is closed.
  expect(clock.refCount()).toBe(1)
  await clock.step(1)
  await outcome
  expect(closed).toEqual(['screen'])
})

test('what cannot be closed does not change how a command has ended', async () => {
  const closed: string[] = []
  const code = await ended(async (context) => {
    context.defer(() => void closed.push('first'))
    context.defer(async () => {
      throw new Error('away')
    })
    return 4
  }, fakeClock())
  expect([code, closed]).toEqual([4, ['first']])
})

test('a command that waits for nothing lives until its --timeout, and fails then', async () => {
  const clock = fakeClock()
  const ending = ended(() => new Promise<void>(() => {}), clock, {
    options: { timeout: '5s' },
  })
  const outcome = expect(ending).rejects.toThrow('not done within 5s')
  await clock.step(4_999)
  expect(clock.refCount()).toBe(1)
  await clock.step(1)
  await outcome
  expect(clock.waiters()).toBe(0)
})

test('a command that comes to its own end after an interruption was interrupted all the same', async () => {
  const interruption = new AbortController()
  const ending = ended(async () => interruption.abort(new Interrupted('SIGINT')), fakeClock(), {
    interrupted: interruption.signal,
    endsAfterAbort: true,
  })
  await expect(ending).rejects.toThrow('ended by SIGINT')
})

test('what an interruption makes fail is no error of its own', async () => {
  const interruption = new AbortController()
  const ending = ended(
    async () => {
      interruption.abort(new Interrupted('SIGINT'))
      throw new Error('the store was closed')
    },
    fakeClock(),
    { interrupted: interruption.signal, endsAfterAbort: true },
  )
  await expect(ending).rejects.toThrow('ended by SIGINT')
})

test('a command closes the store that it has opened, also after an error', async () => {
  const file = join(scratchFolder(), 'queue.db')
  const log = `${file}-wal`
  const store = `sqlite:${file}`
  await output(['migrate'], { store })
  const world = { options: { store } }
  const open = async (context: Context): Promise<void> => {
    const { inspection } = await context.store('existing')
    await inspection.queues()
    expect(existsSync(log)).toBe(true)
  }
  await ended(open, fakeClock(), world)
  expect(existsSync(log)).toBe(false)
  const failing = async (context: Context): Promise<void> => {
    await open(context)
    throw new Error('no such key')
  }
  await expect(ended(failing, fakeClock(), world)).rejects.toThrow('no such key')
  expect(existsSync(log)).toBe(false)
})
