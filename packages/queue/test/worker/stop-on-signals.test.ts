import { type ChildProcess, spawn } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { createQueue, createWorker, stopOnSignals } from '../../src/index.ts'

const program = new URL('../support/programs/stopping.ts', import.meta.url).pathname

/** The program under test, by its output. */
class Program {
  readonly child: ChildProcess
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
  #said = ''
  #onSaid: (() => void) | undefined

  constructor(mode: string) {
    this.child = spawn(
      process.execPath,
      ['--experimental-strip-types', '--conditions=sluice-source', program, mode],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    this.child.stdout?.on('data', (chunk) => {
      this.#said += String(chunk)
      this.#onSaid?.()
    })
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => resolve({ code, signal }))
    })
    onTestFinished(() => {
      this.child.kill('SIGKILL')
    })
  }

  get lines(): string[] {
    return this.#said.trim().split('\n')
  }

  async says(line: string): Promise<void> {
    while (!this.lines.includes(line)) {
      await new Promise<void>((resolve) => {
        this.#onSaid = resolve
      })
    }
  }
}

// real time: another process gets real signals and stops by its own clock.

test('the first signal lets a handler finish, and the process ends automatically', async () => {
  const program = new Program('worker')
  await program.says('running')
  program.child.kill('SIGTERM')
  expect(await program.ended).toEqual({ code: 0, signal: null })
  expect(program.lines).toEqual(['running', 'stopping', 'finished', 'stopped'])
})

test('the second signal aborts the handler at once', async () => {
  const program = new Program('stubborn')
  await program.says('running')
  program.child.kill('SIGTERM')
  await program.says('stopping')
  program.child.kill('SIGINT')
  expect(await program.ended).toEqual({ code: 0, signal: null })
  expect(program.lines).toEqual(['running', 'stopping', 'aborted ERR_CLOSING', 'stopped'])
})

test('the second signal ends the process, if it may', async () => {
  const program = new Program('exit')
  await program.says('running')
  program.child.kill('SIGTERM')
  await program.says('stopping')
  program.child.kill('SIGTERM')
  expect(await program.ended).toEqual({ code: 143, signal: null })
})

test('a queue is closed, and the signals of its holders are aborted at the second signal', async () => {
  const program = new Program('queue')
  await program.says('running')
  program.child.kill('SIGTERM')
  await program.says('stopping')
  program.child.kill('SIGTERM')
  expect(await program.ended).toEqual({ code: 0, signal: null })
  expect(program.lines).toEqual(['running', 'stopping', 'aborted ERR_CLOSING'])
})

test('a store that says nothing costs two seconds more than the grace', async () => {
  const program = new Program('silent')
  await program.says('running')
  const begunAt = performance.now()
  program.child.kill('SIGTERM')
  const { code } = await program.ended
  // The grace is half a second; the rest is what it takes to end a process.
  expect(performance.now() - begunAt).toBeLessThan(3_000)
  // That the store did not close makes the stop a failed one.
  expect(code).toBe(1)
  expect(program.lines).toEqual(['running', 'stopping', 'stopped', 'add ERR_UNKNOWN_OUTCOME'])
})

test('undoing leaves signals as they were', async () => {
  const before = process.listenerCount('SIGTERM')
  const queue = createQueue({})
  const worker = createWorker({ queue, handler: () => undefined })
  const undo = stopOnSignals([worker, queue])
  expect(process.listenerCount('SIGTERM')).toBe(before + 1)
  undo()
  expect(process.listenerCount('SIGTERM')).toBe(before)
  await worker.stop()
  await queue.close()
})

test('bad options are refused, naming the parameter', () => {
  const bad: [() => unknown, string][] = [
    [() => stopOnSignals({} as never), 'what'],
    [() => stopOnSignals([{}] as never), 'what[0]'],
    [() => stopOnSignals([], { signals: ['SIGNOTHING' as never] }), 'signals[0]'],
    [() => stopOnSignals([], { graceMs: -1 }), 'graceMs'],
  ]
  for (const [call, parameter] of bad) {
    expect(call).toThrow(expect.objectContaining({ code: 'ERR_INVALID_INPUT', parameter }))
  }
})
