import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@sluice/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createQueue, createWorker, SluiceError, stopOnSignals } from '../../src/index.ts'

const program = fileURLToPath(new URL('../support/programs/stopping.ts', import.meta.url))

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

test('the warning of a stop that fails is printed before the process ends', async () => {
  const program = new Program('failing')
  await program.says('running')
  program.child.kill('SIGTERM')
  expect(await program.ended).toEqual({ code: 1, signal: null })
  expect(program.lines).toEqual(['running', 'the server is not running'])
})

test('a store that says nothing does not keep the process', async () => {
  const program = new Program('silent')
  await program.says('running')
  program.child.kill('SIGTERM')
  const { code } = await program.ended
  // That the store did not close makes the stop a failed one.
  expect(code).toBe(1)
  expect(program.lines.slice(0, 2)).toEqual(['running', 'stopping'])
  // Of a process that was held up until all its time had passed, these come in the other order.
  expect(program.lines.slice(2).sort()).toEqual(['add ERR_UNKNOWN_OUTCOME', 'stopped'])
})

test.each([
  ['damaged', 1],
  ['undone', 0],
])(
  'a worker that has to end, of a program that is %s, makes the exit code %i',
  async (mode, code) => {
    expect(await new Program(mode).ended).toEqual({ code, signal: null })
  },
)

/** The time that queues and workers see; it stands still unless a test moves it. */
function standingTime(): { nowMs: number } {
  const time = { nowMs: 0 }
  const reading = vi.spyOn(systemClock, 'monotonicMs').mockImplementation(() => time.nowMs)
  onTestFinished(() => reading.mockRestore())
  return time
}

/** What the process says of a stop that fails. */
function expectWarning(error: Error | string): () => void {
  const { exitCode } = process
  const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  onTestFinished(() => {
    process.exitCode = exitCode
    warning.mockRestore()
  })
  return () => {
    expect(warning.mock.calls).toEqual([[error]])
    expect(process.exitCode).toBe(1)
  }
}

test.each([
  ['all', false, { graceMs: 500, leftMs: 2_500 }],
  ['what their workers leave', true, { graceMs: 0, leftMs: 1_300 }],
])('queues get %s of the grace and two seconds', async (_, hasWorker, expected) => {
  const time = standingTime()
  const worker = {
    async stop({ graceMs }: { readonly graceMs: number }): Promise<void> {
      time.nowMs += graceMs + 700
    },
  }
  const closed = new Promise<unknown>((resolve) => {
    const queue = {
      async close(options: { readonly graceMs: number }, leftMs?: number): Promise<void> {
        resolve({ ...options, leftMs })
      },
    }
    const targets = hasWorker ? [worker, queue] : [queue]
    stopOnSignals(targets, { signals: ['SIGUSR2'], graceMs: 500 })
  })
  process.emit('SIGUSR2')
  expect(await closed).toEqual(expected)
})

test.each([new Error('the server is not running'), 7])(
  'one that fails to stop leaves the others their grace, and queues are closed after them: %s',
  async (failure) => {
    const isWarned = expectWarning(failure instanceof Error ? failure : '7')
    const happened: string[] = []
    const closed = new Promise<void>((resolve) => {
      const server = {
        stop: (): Promise<void> => {
          throw failure
        },
      }
      const worker = {
        async stop(): Promise<void> {
          await new Promise(setImmediate)
          happened.push('stopped')
        },
      }
      const queue = {
        async close(): Promise<void> {
          happened.push('closed')
          resolve()
        },
      }
      stopOnSignals([server, worker, queue], { signals: ['SIGUSR2'] })
    })
    process.emit('SIGUSR2')
    await closed
    expect(happened).toEqual(['stopped', 'closed'])
    isWarned()
  },
)

test('one that never stops, such as a server with an open socket, does not keep the queues open', async () => {
  const time = standingTime()
  const late = 'cannot stop all in time: something did not end within graceMs and 2 s'
  const isWarned = expectWarning(new SluiceError('ERR_TIMEOUT', late))
  const server = {
    stop({ graceMs }: { readonly graceMs: number }): Promise<void> {
      time.nowMs += graceMs + 2_000
      return new Promise(() => undefined)
    },
  }
  await new Promise<void>((resolve) => {
    const queue = { close: async (): Promise<void> => resolve() }
    stopOnSignals([server, queue], { signals: ['SIGUSR2'] })
    process.emit('SIGUSR2')
  })
  isWarned()
})

/** What stops at the end of the test: one that never does warns later, in the tests of another file. */
function patientStop() {
  const stopped = Promise.withResolvers<void>()
  onTestFinished(() => stopped.resolve())
  const graces: number[] = []
  const stop = ({ graceMs }: { readonly graceMs: number }): Promise<void> => {
    graces.push(graceMs)
    return stopped.promise
  }
  return { graces, stop }
}

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

test.each([
  ['SIGINT after a quarter of a second', 250, 'SIGINT'],
  ['another signal', 0, 'SIGUSR2'],
] as const)(
  'one press of Ctrl-C that comes more than once, as under `node --watch`, is one signal; %s is the second',
  (_, ms, second) => {
    const time = standingTime()
    const before = process.listenerCount('SIGINT')
    const { graces, stop } = patientStop()
    const undo = stopOnSignals({ stop }, { signals: ['SIGINT', 'SIGUSR2'] })
    onTestFinished(undo)
    const startMs = time.nowMs
    for (const atMs of [0, 0, 20, 249]) {
      time.nowMs = startMs + atMs
      process.emit('SIGINT', 'SIGINT')
    }
    expect([graces, process.listenerCount('SIGINT')]).toEqual([[10_000], before + 1])
    time.nowMs = startMs + ms
    process.emit(second, second)
    expect([graces, process.listenerCount('SIGINT')]).toEqual([[10_000, 0], before])
  },
)

test('after the second signal, signals do what they do without this', () => {
  const before = process.listenerCount('SIGUSR2')
  const { graces, stop } = patientStop()
  stopOnSignals({ stop }, { signals: ['SIGUSR2'] })
  process.emit('SIGUSR2')
  expect(process.listenerCount('SIGUSR2')).toBe(before + 1)
  process.emit('SIGUSR2')
  expect(process.listenerCount('SIGUSR2')).toBe(before)
  expect(graces).toEqual([10_000, 0])
})

test('a signal that is named twice is not a second one', () => {
  const before = process.listenerCount('SIGUSR2')
  const { graces, stop } = patientStop()
  const undo = stopOnSignals({ stop }, { signals: ['SIGUSR2', 'SIGUSR2'] })
  onTestFinished(undo)
  process.emit('SIGUSR2', 'SIGUSR2')
  expect([graces, process.listenerCount('SIGUSR2')]).toEqual([[10_000], before + 1])
  undo()
  expect(process.listenerCount('SIGUSR2')).toBe(before)
})

test('a signal that no process can handle is refused, and nothing changes', () => {
  const before = process.listenerCount('SIGUSR2')
  expect(() => stopOnSignals([], { signals: ['SIGUSR2', 'SIGUSR2', 'SIGKILL'] })).toThrow(
    expect.objectContaining({
      code: 'ERR_INVALID_INPUT',
      message:
        "signals[2] must be a signal that a process can handle; got 'SIGKILL' [ERR_INVALID_INPUT]",
    }),
  )
  expect(process.listenerCount('SIGUSR2')).toBe(before)
})

test('a queue of a loop has every grace that is taken, also one that is longer than a close of its own takes', async () => {
  const failed = Promise.withResolvers<never>()
  const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(failed.reject)
  onTestFinished(() => warnings.mockRestore())
  const queue = createQueue<string>()
  await queue.add('a')
  const held = await queue.get()
  stopOnSignals(queue, { signals: ['SIGUSR2'], graceMs: 2 * 86_400_000 })
  process.emit('SIGUSR2')
  expect(await Promise.race([queue.get(), failed.promise])).toBeUndefined()
  expect(held?.signal.aborted).toBe(false)
  expect(await held?.done()).toBe('idle')
  await queue.close()
})

test('bad options are refused, naming the parameter', () => {
  const bad: [() => unknown, string][] = [
    [() => stopOnSignals({} as never), 'what'],
    [() => stopOnSignals(null as never), 'what'],
    [() => stopOnSignals('worker' as never), 'what'],
    [() => stopOnSignals([{}] as never), 'what[0]'],
    [() => stopOnSignals([], { signals: [] }), 'signals'],
    [() => stopOnSignals([], { signals: 'SIGTERM' as never }), 'signals'],
    [() => stopOnSignals([], { signals: ['SIGNOTHING' as never] }), 'signals[0]'],
    [() => stopOnSignals([], { graceMs: -1 }), 'graceMs'],
    [() => stopOnSignals([], { exit: 1 as never }), 'exit'],
    [() => stopOnSignals([], { signal: 'SIGTERM' } as never), 'signal'],
  ]
  for (const [call, parameter] of bad) {
    expect(call).toThrow(expect.objectContaining({ code: 'ERR_INVALID_INPUT', parameter }))
  }
})
