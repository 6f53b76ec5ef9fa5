import { describe, expect, test } from 'vitest'
import { run } from '../support/program.ts'

const ways = ['direct', 'batched', 'late']

describe.each(ways)('Time: keeping a process alive over %s', (way) => {
  test('is done by every wait, unless ref is false, and by nothing else', async () => {
    const { lines } = await run('living', way)
    expect(lines).toEqual([
      'nothing: ends',
      'get: lives',
      'getMany: lives',
      'iteration: lives',
      'get of a delayed key: lives',
      'drain: lives',
      'drain of a ready key: lives',
      'iteration while a key is held: lives',
      'aborted get: ends',
      'aborted drain: ends',
      'busy worker: lives',
      'ready keys: ends',
      'delayed keys: ends',
      'held keys: ends',
      'answered get: ends',
      'shut down: ends',
      'closed: ends',
      'around a foreign queue, get of a delayed key: lives',
      'around a foreign queue, getMany, then a delayed key: lives',
      'around a foreign queue, iteration, then a delayed key: lives',
      'around a foreign queue, get: ends',
      'around a foreign queue, delayed keys: ends',
      'around a foreign queue, get of a cancelled key: ends',
      'around a foreign queue, answered get: ends',
      'around a foreign queue, shut down: ends',
      'around a foreign queue, get of a delayed key, ref: false: ends',
      'get, ref: false: ends',
      'drain of a ready key, ref: false: ends',
      'iteration while a key is held, ref: false: ends',
      'busy worker, ref: false: ends',
    ])
  })

  test.each(['delayed keys', 'stopped worker', 'closed under a handler that does not end'])(
    'a process ends automatically after: %s',
    async (what) => {
      expect(await run('living', way, what)).toEqual({ code: 0, lines: ['ends'] })
    },
  )
})
