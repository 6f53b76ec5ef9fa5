import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { needs } from '@sluice/needs'
import { freePort, onFreePorts } from '@sluice/needs/free-port'
import { fakeTimeLibrary, SteppedClock } from '@sluice/needs/stepped-clock'
import {
  hasRedis,
  onDisk,
  startRedis,
  startReplicated,
  startSentinel,
  until,
} from '@sluice/test-redis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { RedisProcess } from '../src/redis-process.ts'

function disposeLater<T extends { dispose(): Promise<void> }>(server: T): T {
  onTestFinished(() => server.dispose())
  return server
}

const gone = (pid: number): boolean => !existsSync(`/proc/${pid}`)

test('what has come while this process stood still is seen, and what never comes is given up', async () => {
  let nowMs = 0
  const reading = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  onTestFinished(() => reading.mockRestore())
  let looks = 0
  await until('the second look', async () => {
    nowMs += 600_000
    looks += 1
    return looks === 2
  })
  const never = until('nothing', async () => {
    nowMs += 600_000
    return false
  })
  await expect(never).rejects.toThrow('nothing: not within')
})

describe.skipIf(!hasRedis)('servers', () => {
  test('a server that writes to the disk has its data after it was killed, and leaves none behind', async () => {
    const server = await startRedis({ settings: onDisk })
    assert.equal(await server.command('SET', 'a', 'ä'), 'OK')
    await server.kill()
    await expect(server.command('GET', 'a')).rejects.toThrow('ECONNREFUSED')
    await server.start()
    assert.equal(await server.command('GET', 'a'), 'ä')
    const { pid, folder } = server
    await server.dispose()
    assert.ok(gone(pid))
    assert.ok(!existsSync(folder))
  })

  test('a server that was ended by a signal of another program does not run, and starts again', async () => {
    const server = disposeLater(await startRedis())
    process.kill(server.pid, 'SIGKILL')
    await expect.poll(() => server.isRunning).toBe(false)
    await server.start()
    assert.ok(server.isRunning)
  })

  test('a server starts on another port if a program has taken the one that was free', async () => {
    const other = disposeLater(await startRedis())
    const ports = [other.port, await freePort()]
    const folder = mkdtempSync(join(tmpdir(), 'sluice-ports-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    onTestFinished(() => void vi.unstubAllEnvs())
    vi.stubEnv('TMPDIR', folder)
    const server = disposeLater(
      await onFreePorts(() => RedisProcess.start({ port: ports.shift()! })),
    )
    assert.notEqual(server.port, other.port)
    // Nothing is left of the first one.
    assert.deepEqual(readdirSync(folder), [basename(server.folder)])
    assert.equal(await server.command('ECHO', 'here'), 'here')
    await expect(onFreePorts(() => Promise.reject(new Error('out of room')))).rejects.toThrow(
      'room',
    )
  })

  test('a server starts where the folder of temporary files has a space in its name', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'with a space-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    onTestFinished(() => void vi.unstubAllEnvs())
    vi.stubEnv('TMPDIR', folder)
    const server = disposeLater(await startRedis())
    assert.equal(dirname(server.folder), folder)
  })

  test('replies of every kind arrive, also in several pieces', async () => {
    const server = disposeLater(await startRedis())
    const long = 'x'.repeat(3_000_000)
    await server.command('SET', 'long', long)
    assert.equal(await server.command('GET', 'long'), long)
    const script = "return {1, 'two', false, {'', {}}, redis.status_reply('five')}"
    assert.deepEqual(await server.command('EVAL', script, 0), [1, 'two', null, ['', []], 'five'])
    await expect(server.command('NONSENSE')).rejects.toThrow('unknown command')
    assert.deepEqual(await Promise.all([1, 2].map((n) => server.command('ECHO', n))), ['1', '2'])
  })

  test('a paused server answers when it is resumed', async () => {
    const server = disposeLater(await startRedis())
    server.pause()
    let isAnswered = false
    const answer = server.command('PING').then((reply) => {
      isAnswered = true
      return reply
    })
    const other = disposeLater(await startRedis())
    await other.command('PING')
    assert.ok(!isAnswered)
    server.resume()
    assert.equal(await answer, 'PONG')
  })

  test('a server ends with the process that started it, even if that is killed', async () => {
    const program = `
      const { startRedis } = await import('@sluice/test-redis')
      const server = await startRedis()
      console.log(server.pid)
      process.stdin.resume()`
    // That of the server stays behind.
    const folder = mkdtempSync(join(tmpdir(), 'sluice-killed-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const child = spawn(
      process.execPath,
      ['--conditions=sluice-source', '--input-type=module', '-e', program],
      {
        cwd: import.meta.dirname,
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { ...process.env, TMPDIR: folder },
      },
    )
    const pid = Number(await new Promise((resolve) => child.stdout.once('data', resolve)))
    assert.ok(!gone(pid))
    child.kill('SIGKILL')
    await expect.poll(() => gone(pid)).toBe(true)
  })

  test('a replica follows its primary, and WAIT counts it only while it runs', async () => {
    const { primary, replicas, ...server } = await startReplicated()
    onTestFinished(() => server.dispose())
    const [replica] = replicas
    assert.ok(replica !== undefined)
    await primary.command('SET', 'a', 1)
    assert.equal(await primary.command('WAIT', 1, 0), 1)
    assert.equal(await replica.command('GET', 'a'), '1')
    replica.pause()
    await primary.command('SET', 'a', 2)
    assert.equal(await primary.command('WAIT', 1, 50), 0)
    replica.resume()
    assert.equal(await primary.command('WAIT', 1, 0), 1)
  })

  test('Sentinel promotes the replica when the primary is killed', async () => {
    const server = disposeLater(await startSentinel())
    const first = await server.primary()
    await first.command('SET', 'a', 1)
    assert.equal(await first.command('WAIT', 1, 0), 1)
    await first.kill()
    const second = await server.promoted(first)
    assert.notEqual(second, first)
    assert.equal(await second.command('GET', 'a'), '1')
  })

  test.skipIf(!needs('libfaketime', fakeTimeLibrary !== undefined))(
    'the wall clock of a server can be set',
    async () => {
      const clock = new SteppedClock()
      onTestFinished(() => clock.remove())
      const server = disposeLater(await startRedis({ clock }))
      const seconds = async (): Promise<number> => {
        const [text] = (await server.command('TIME')) as string[]
        return Number(text)
      }
      const before = await seconds()
      clock.set(-3_600_000)
      assert.ok(Math.abs(before - 3_600 - (await seconds())) < 60)
      clock.set(3_600_000)
      assert.ok(Math.abs(before + 3_600 - (await seconds())) < 60)
    },
  )
})
