/** What keeps a process alive: nothing of a driver that is open and has no call. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { hasRedis, startRedis } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { libraries } from './support.ts'

const program = (options: object): string => `
import { redisDriver } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)}
const driver = redisDriver(${JSON.stringify(options)})
await driver.open({})
// real time: the wait for the start of a watch keeps no process alive.
const alive = setInterval(() => {}, 1_000)
await driver.watch(() => {})
clearInterval(alive)
const asks = [{ key: 'a', item: undefined, priority: 0, delayMs: 0 }]
await driver.add('q', asks, { dedupe: 'client-go', failuresExpireMs: 86_400_000 })
console.log('idle')
`

describe.skipIf(!hasRedis)('a process that has not closed its driver', () => {
  test.each(libraries)('ends when it has nothing else to do: %s', async (library) => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const flags = ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings']
    // The timeout only ends a process that does not.
    const ended = await promisify(execFile)(
      process.execPath,
      [...flags, '--input-type=module', '-e', program({ url: server.url, library })],
      { cwd: import.meta.dirname, timeout: 60_000, killSignal: 'SIGKILL' },
    )
    expect(ended).toEqual({ stdout: 'idle\n', stderr: '' })
  })
})
