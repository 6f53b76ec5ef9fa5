import assert from 'node:assert/strict'
import { systemEnvironment } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { test } from 'vitest'
import { Link } from '../../src/clients/link.ts'

const timeoutMs = 20

const afterTimers = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a process that was held up does not take the server for silent', async () => {
  const link = await Link.open({
    environment: systemEnvironment,
    timeoutMs,
    openClient: async () => ({
      isShareable: true,
      async send([name]) {
        if (name === 'INFO') return ''
        // Replies are read after the timers that are due have fired.
        await afterTimers()
        return 'PONG'
      },
      async subscribe() {},
      async unsubscribe() {},
      hold() {},
    }),
  })
  await afterTimers()
  const reply = link.send(['PING'])
  const heldUntil = performance.now() + 2 * timeoutMs
  while (performance.now() < heldUntil);
  assert.equal(await reply, 'PONG')
  assert.ok(link.isOpen)
  link.close()
})

test('a server that replies all the time is not silent, however long something is awaited', async () => {
  const clock = fakeClock()
  const replies: ((reply: string) => void)[] = []
  const link = await Link.open({
    environment: { ...systemEnvironment, clock },
    timeoutMs,
    openClient: async () => ({
      isShareable: true,
      send: async ([name]) =>
        name === 'INFO' ? '' : await new Promise<string>((resolve) => replies.push(resolve)),
      async subscribe() {},
      async unsubscribe() {},
      hold() {},
    }),
  })
  let awaited = link.send(['PING'])
  for (let round = 0; round < 6; round += 1) {
    const next = link.send(['PING'])
    replies.shift()?.('PONG')
    assert.equal(await awaited, 'PONG')
    awaited = next
    // In every second half there is no reply.
    for (const _ of ['first', 'second']) await clock.step(timeoutMs / 2)
  }
  assert.ok(link.isOpen)
  // Now it is.
  awaited.catch(() => {})
  await clock.step(timeoutMs)
  assert.ok(!link.isOpen)
})
