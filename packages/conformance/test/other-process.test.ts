import { type ChildProcess, fork } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { SluiceError } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { expect, onTestFinished, test } from 'vitest'
import { missingHook } from '../src/case.ts'
import { allCases } from '../src/cases/all.ts'
import { modelSubject } from '../src/model/model-subject.ts'
import { forkDriver } from '../src/other-process.ts'
import { runCase } from '../src/run-cases.ts'
import { examine } from '../src/vitest.ts'

const served = new URL('fixtures/served-model.ts', import.meta.url)

const execArgv = ['--experimental-strip-types', '--no-warnings', '--conditions=sluice-source']

const forked = () => forkDriver(served, [], { execArgv })

/** Verbs, groups of verbs, infinite instants, failures and wakes, all across processes. */
const parts = ['subject.clock', 'batch.', 'lease.', 'purge.', 'transfer.', 'wake.']

examine(
  'a model in another process',
  async () => {
    const { driver } = await forked()
    const capabilities = { ...driver.capabilities, durable: false, peers: false }
    return { driver: { ...driver, capabilities }, clock: fakeClock() }
  },
  { cases: allCases.filter(({ id }) => parts.some((part) => id.startsWith(part))) },
)

const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
const ask = { key: 'a', item: undefined, priority: 0, delayMs: 0 }

test('a call to a process that is killed has an unknown outcome, and a later one fails', async () => {
  const { driver, kill } = await forked()
  await driver.open({ clock: fakeClock() })
  const call = Promise.resolve(driver.add('q', [ask], options)).catch((error: unknown) => error)
  await kill()
  const outcome = await call
  const isEither = Array.isArray(outcome) || SluiceError.is(outcome, 'ERR_UNKNOWN_OUTCOME')
  expect(isEither).toBe(true)
  await expect(driver.add('q', [ask], options)).rejects.toMatchObject({ code: 'ERR_STORE' })
  await driver.close()
})

test('calls to a process that is ending have an unknown outcome, and do not fail its kill', async () => {
  const started = Promise.withResolvers<ChildProcess>()
  const note = (message: unknown): void => {
    started.resolve((message as { readonly process: ChildProcess }).process)
  }
  subscribe('child_process', note)
  onTestFinished(() => void unsubscribe('child_process', note))
  const { driver, kill } = await forked()
  await driver.open({ clock: fakeClock() })
  // What its death does too, before its exit is known.
  const child = await started.promise
  child.disconnect()
  const calls = ['a', 'b'].map(async (key) => await driver.add('q', [{ ...ask, key }], options))
  const unknown = { status: 'rejected', reason: { code: 'ERR_UNKNOWN_OUTCOME' } }
  expect(await Promise.allSettled(calls)).toMatchObject([unknown, unknown])
  // One for each call that could not be sent: without a listener, the next ended this process.
  expect(child.listenerCount('error')).toBe(1)
  await kill()
})

test('a process that cannot be started is an error of the call alone', async () => {
  const errors: unknown[] = []
  const note = (error: unknown): void => void errors.push(error)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  await expect(forkDriver(served, [], { execPath: '/missing' })).rejects.toThrow('ENOENT')
  await new Promise((resolve) => setImmediate(resolve))
  expect(errors).toEqual([])
})

test('a process whose parent has gone while it carries out a call ends in order', async () => {
  const child = fork(served, [], { execArgv, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const printed = text(child.stderr!)
  await once(child, 'message')
  // It reads the call when nobody is left to read its answer.
  child.kill('SIGSTOP')
  child.send({ id: 1, verb: 'counts', args: ['q'] })
  const gone = once(child, 'disconnect')
  child.disconnect()
  await gone
  const ended = once(child, 'exit')
  child.kill('SIGCONT')
  expect([await ended, await printed]).toEqual([[0, null], ''])
})

test('a process whose parent has gone before its greeting ends in order', async () => {
  // real time: a module of others may hold what keeps a process alive, and await what it needs.
  const module = 'setInterval(()=>{},1_000);await new Promise(end=>process.once("disconnect",end))'
  const child = fork(served, [], {
    execArgv: [...execArgv, `--import=data:text/javascript,${module}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const printed = text(child.stderr!)
  const ended = once(child, 'exit')
  child.disconnect()
  expect([await ended, await printed]).toEqual([[0, null], ''])
})

test('errors keep their codes', async () => {
  const { driver } = await forked()
  await driver.open({ clock: fakeClock() })
  await expect(driver.queues?.()).rejects.toMatchObject({
    code: 'ERR_STORE_BUSY',
    message: 'busy [ERR_STORE_BUSY]',
    retryable: true,
  })
  await driver.close()
})

test('a case that needs a hook is not run on a subject without it', async () => {
  const chosen = {
    id: 'a.b',
    title: 'a promise',
    needs: { otherProcess: true },
    run: () => Promise.reject(new Error('it ran')),
  } as const
  const { otherProcess: _, ...subject } = modelSubject()
  expect(missingHook(chosen.needs, subject)).toBe('the subject gives no otherProcess')
  const { verdict, reason } = await runCase(chosen, () => subject)
  expect({ verdict, reason }).toEqual({
    verdict: 'not-asked',
    reason: 'the subject gives no otherProcess',
  })
})
