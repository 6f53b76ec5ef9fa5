/** What keeps a process alive: nothing of a driver that is open and has no call. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
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

test('a process that has not closed its driver ends when it has nothing else to do', async () => {
  const flags = ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings']
  // The timeout only ends a process that does not.
  const ended = await promisify(execFile)(
    process.execPath,
    [...flags, '--input-type=module', '-e', program(server.url)],
    { cwd: import.meta.dirname, timeout: 60_000, killSignal: 'SIGKILL' },
  )
  expect(ended).toEqual({ stdout: 'idle\n', stderr: '' })
})
