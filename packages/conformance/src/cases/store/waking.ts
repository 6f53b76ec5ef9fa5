import assert from 'node:assert/strict'
import type { Case } from '../../case.ts'
import type { Scene } from '../../scene/scene.ts'
import { allWake, wakes } from '../../scene/wakes.ts'

/** A watcher that counts its calls. */
async function counting(s: Scene): Promise<{ calls: number; stop(): Promise<void> }> {
  const watcher = {
    calls: 0,
    async stop(): Promise<void> {
      await stop?.()
    },
  }
  const stop = await s.driver.watch?.(() => {
    watcher.calls += 1
  })
  return watcher
}

/** Which changes wake which watchers. */
export const wakingCases: readonly Case[] = [
  {
    id: 'watch.delayed',
    title: 'a watcher is called when another process adds a key that is due before it looks again',
    needs: { watch: true, peers: true },
    async run(s) {
      const other = await s.peer()
      await wakes(s, () => other.addAfter('a', 50))
    },
  },
  {
    id: 'watch.delayed.earliest',
    title: 'of a batch of delayed keys, and of a retry, the earliest time counts for a watcher',
    needs: { watch: true, peers: true },
    async run(s) {
      const other = await s.peer()
      await s.add('failed')
      const claim = await other.claimOne('failed')
      await s.addAfter('a', 1_000)
      const delayed = [s.ask('b', { delayMs: 500 }), s.ask('c', { delayMs: 2_000 })]
      await wakes(s, () => other.addAll(delayed))
      await wakes(s, () => other.retry(claim, 50))
    },
  },
  {
    id: 'watch.claim',
    title: 'the watcher of a process whose claim found no key is called for the next one',
    needs: { watch: true, peers: true },
    async run(s) {
      const other = await s.peer()
      await wakes(s, () => other.add('a'))
      await s.done(await s.claimOne('a'))
      await allWake(
        s,
        [s.queue],
        () => other.add('b'),
        [],
        (each) => each.claimNone(),
      )
    },
  },
  {
    id: 'watch.worker',
    title: 'the watcher of a worker that found no key is called for the next one, again and again',
    needs: { watch: true, peers: true, workers: true },
    async run(s) {
      const other = await s.peer()
      const holder = 'w1'
      const worker = { holder, host: 'h', pid: 1, concurrency: 1, settings: {} }
      await s.tick({ holder, worker })
      for (const key of ['a', 'b']) {
        await allWake(
          s,
          [s.queue],
          () => other.add(key),
          [],
          (each) => each.tick({ holder, worker }),
        )
        await other.cancel(key)
      }
    },
  },
  {
    id: 'watch.several',
    title: 'every watcher is called, until it is stopped itself',
    needs: { watch: true },
    async run(s) {
      const first = await counting(s)
      await wakes(s, () => s.add('a'))
      assert.ok(first.calls > 0, 'an earlier watcher is called, too')
      await wakes(s, async () => {
        await first.stop()
        await first.stop()
        await s.add('b')
      })
    },
  },
  {
    id: 'watch.several.peers',
    title: 'a watcher that is stopped twice leaves the others to be called for other processes',
    needs: { watch: true, peers: true },
    async run(s) {
      const other = await s.peer()
      const first = await counting(s)
      await wakes(s, async () => {
        await first.stop()
        await first.stop()
        await other.add('a')
      })
    },
  },
  {
    id: 'watch.reopen',
    title: 'a driver that was closed calls no watcher, and a new one once it is open again',
    needs: { watch: true, peers: true },
    async run(s) {
      const other = await s.peer()
      const watcher = await counting(s)
      await s.close()
      const before = watcher.calls
      await wakes(other, () => other.add('a'))
      assert.equal(watcher.calls, before)
      await s.open()
      await wakes(s, () => s.add('b'))
    },
  },
]
