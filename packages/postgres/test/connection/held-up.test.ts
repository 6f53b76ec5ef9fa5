import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { systemEnvironment } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { withDeadline } from '../../src/connection/deadline.ts'
import { postgresDriver } from '../../src/index.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()

const afterTimers = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test.each([
  ['a statement', undefined],
  ['a suspicion as late as the deadline', { afterMs: 20, isLost: async () => false }],
])('a process that was held up reads the answer that has come: %s', async (what, suspicion) => {
  await afterTimers()
  // Answers are read after the timers that are due have fired.
  const answer = afterTimers().then(() => 'an answer')
  const waiting = withDeadline(systemEnvironment, 20, what, answer, { suspicion })
  const heldUntil = performance.now() + 40
  while (performance.now() < heldUntil);
  expect(await waiting).toBe('an answer')
})

test('an answer leaves no timer behind, and no wait that could be ended', async () => {
  const clock = fakeClock()
  const waits = new Set<(error: unknown) => void>()
  const answer = withDeadline({ clock, random: () => 0.5 }, 1_000, 'a call', afterTimers(), {
    waits,
  })
  expect([clock.waiters(), clock.refCount(), waits.size]).toEqual([1, 1, 1])
  await answer
  expect([clock.waiters(), waits.size]).toEqual([0, 0])
})

test.each([0, 60])(
  'a process that was held up while it connected reads the answer that has come, and those after %i ms each',
  async (answerMs) => {
    const sockets: Socket[] = []
    const entrance = createServer((socket) => void sockets.push(socket.on('error', () => {})))
    await once(entrance.listen(0, '127.0.0.1'), 'listening')
    const url = new URL(server.url)
    url.port = String((entrance.address() as AddressInfo).port)
    const driver = postgresDriver({ connectionString: url.href, schema: 'held_up', notify: false })
    // real time: none passes; the timers of the driver are fired here.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(async () => {
      vi.useRealTimers()
      await driver.close()
      for (const socket of sockets) socket.destroy()
      entrance.close()
    })
    const connected = once(entrance, 'connection')
    const opening = driver.open({})
    await connected
    // All that are due by then fire before anything is read.
    vi.runOnlyPendingTimers()
    for (const socket of sockets) {
      const onward = connect(server.port, '127.0.0.1').on('error', () => {})
      socket.pipe(onward)
      onward.on('data', (answer) => {
        vi.advanceTimersByTime(answerMs)
        socket.write(answer)
      })
      socket.on('close', () => onward.destroy())
    }
    await opening
    expect(sockets.length).toBeGreaterThan(0)
  },
)
