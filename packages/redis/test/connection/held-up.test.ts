import assert from 'node:assert/strict'
import { systemEnvironment } from '@sluice/core/driver'
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
