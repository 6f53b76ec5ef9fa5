/** What keeps a process alive: nothing of a driver that is open and has no call. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { channelOf } from '../../src/schema/schema-name.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()

const program = (url: string): string => `
import { postgresDriver } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)}
const driver = postgresDriver({ connectionString: ${JSON.stringify(url)}, onWarning: console.error })
await driver.open({})
// real time: the wait for the start of a watch keeps no process alive.
const alive = setInterval(() => {}, 1_000)
await driver.watch(() => {})
clearInterval(alive)
const asks = [{ key: 'a', item: undefined, priority: 0, delayMs: 0 }]
await driver.add('q', asks, { dedupe: 'client-go', failuresExpireMs: 86_400_000 })
console.log('idle')
`

/** Adds two keys one after the other, and has nothing else to do. */
const adding = (url: string): string => `
import { systemClock } from '@sluice/core'
import { postgresDriver } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)}
// The second add is in the 10 ms after the first notice also on a machine that is held up.
const { startTimer } = systemClock
systemClock.startTimer = (ms, callback) => startTimer(ms === 10 ? 1_000 : ms, callback)
const driver = postgresDriver({ connectionString: ${JSON.stringify(url)}, onWarning: console.error })
await driver.open({})
for (const key of ['a', 'b']) {
  const asks = [{ key, item: undefined, priority: 0, delayMs: 0 }]
  await driver.add('soon', asks, { dedupe: 'client-go', failuresExpireMs: 86_400_000 })
}
console.log('added')
`

async function run(source: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const flags = ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings']
  // The timeout only ends a process that does not.
  return await promisify(execFile)(
    process.execPath,
    [...flags, '--input-type=module', '-e', source],
    { cwd: import.meta.dirname, timeout: 60_000, killSignal: 'SIGKILL' },
  )
}

test('a process that has not closed its driver ends when it has nothing else to do', async () => {
  expect(await run(program(server.url))).toEqual({ stdout: 'idle\n', stderr: '' })
})

test('a process that has nothing else to do stays until other processes know of what it added', async () => {
  const listening = await server.pool.connect()
  onTestFinished(() => listening.release(true))
  const received: string[] = []
  listening.on('notification', ({ payload = '' }) => void received.push(payload))
  await listening.query(`listen ${channelOf('sluice')}`)
  expect(await run(adding(server.url))).toEqual({ stdout: 'added\n', stderr: '' })
  // The server sends what was committed before it answers.
  await listening.query('select 1')
  expect(received).toEqual(['qsoon', 'qsoon'])
})
