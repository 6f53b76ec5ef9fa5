/** Commands that watch, while the store is away. */
import { startPostgres } from '@sluice/test-postgres'
import { hasRedis, onDisk, startRedis } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cli, type Ended, output } from './cli.ts'
import { Watch } from './watch.ts'

interface Server {
  readonly store: string
  stop(): Promise<unknown>
  start(): Promise<unknown>
}

async function postgres(): Promise<Server> {
  const server = await startPostgres()
  onTestFinished(() => server.dispose())
  await output(['migrate'], { store: server.url })
  return { store: server.url, stop: () => server.stop(), start: () => server.start() }
}

async function redis(): Promise<Server> {
  const server = await startRedis({ settings: onDisk })
  onTestFinished(() => server.dispose())
  return { store: server.url, stop: () => server.stop(), start: () => server.start() }
}

/** Reads of a watch until it has written this; how soon a driver connects again is its own matter. */
async function saidLater(watch: Watch, text: RegExp): Promise<void> {
  for (let all = ''; !text.test(all); ) all += (await watch.both(2_000)).out
}

/** Steps the clock of a command until it has ended, for the same reason. */
async function endedLater({ clock, ended }: Watch): Promise<Ended> {
  for (;;) {
    const asleep = clock.step(2_000).then(() => clock.waitForWaiters(1))
    const answer = await Promise.race([ended, asleep])
    if (answer !== undefined) return answer
  }
}

const kinds = [
  { kind: 'Postgres', serve: postgres },
  ...(hasRedis ? [{ kind: 'Redis', serve: redis }] : []),
]

describe.each(kinds)('while $kind is away', ({ serve }) => {
  test('commands that watch say so once, and go on when it is back', async () => {
    const { store, stop, start } = await serve()
    await output(['add', 'orders', 'a'], { store })
    const watches = {
      queues: new Watch(['queues', '--watch'], store),
      events: new Watch(['events', '--follow', 'orders'], store),
      drain: new Watch(['drain', 'orders'], store),
      top: new Watch(['top'], store, true),
    }
    const { queues, events, drain, top } = watches
    const all = Object.values(watches)
    await Promise.all(all.map((watch) => watch.next()))
    await stop()
    for (const watch of [queues, events, drain]) {
      const { out, err } = await watch.both(2_000)
      expect(out).toBe('')
      expect(err).toMatch(/^warning: .* \[ERR_[A-Z_]+\]; trying again every 2\.0s\n$/)
      expect(await watch.both(2_000)).toEqual({ out: '', err: '' })
    }
    const shown = await top.both(2_000)
    expect(shown.out).toMatch(/\[ERR_[A-Z_]+\]; trying again.*\n.*\n.*orders /)
    expect(shown.err).toBe('')
    await start()
    await output(['pause', 'orders'], { store })
    for (const watch of [queues, events, top]) await saidLater(watch, /orders +\S*paused/)
    await output(['purge', 'orders', '--yes'], { store })
    await saidLater(queues, /orders +paused +0 /)
    expect(await endedLater(drain)).toMatchObject({ code: 0, out: 'orders is drained\n' })
    await stop()
    for (const watch of [queues, events]) {
      expect((await watch.both(2_000)).err).toMatch(/trying again every 2\.0s\n$/)
    }
    for (const watch of [queues, events, top]) expect((await watch.interrupt()).code).toBe(130)
  })

  test('a watch of a store that was never there ends at once', async () => {
    const { store, stop } = await serve()
    await stop()
    const { code, err } = await cli(['queues', '--watch', '--timeout', '60s'], { store })
    expect(code).toBe(1)
    expect(err).not.toContain('trying again')
  })
})
