/** How far replicas are, where the server does not say it: later servers than Redis 7.0 answer `WAIT` in another way. */
import assert from 'node:assert/strict'
import { hasRedis, startReplicated } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { libraries, open } from './support.ts'

describe.skipIf(!hasRedis)('where INFO is withheld', () => {
  test.each(libraries)(
    'a replica that stands still does not have what another connection has written: %s',
    async (library) => {
      const servers = await startReplicated()
      onTestFinished(() => servers.dispose())
      const { primary, replicas } = servers
      const rules = ['on', '>pw', '~*', '&*', '+@all', '-info']
      await primary.command('ACL', 'SETUSER', 'app', ...rules)
      const url = servers.url.replace('//', '//app:pw@')
      const connections = await open({ url, library })
      replicas[0]?.pause()
      try {
        await primary.command('SET', 'a', 'later')
        await connections.progress('a')
        assert.equal((await connections.progress('a')).following, 0)
      } finally {
        replicas[0]?.resume()
      }
      // A replica reports once a second without being asked.
      await expect.poll(async () => (await connections.progress('a')).following).toBe(1)
    },
  )
})
