import assert from 'node:assert/strict'
import { beforeAll, describe, test } from 'vitest'
import { type IdleWindow, idleWindow } from '../../support/idle/idle-window.ts'

// An idle process makes one call of its store in ten seconds, however many processes share it.

const sizes = [1, 2, 4]
const windowMs = 25_000

let seen: IdleWindow
/** As many beats of ten seconds as can fall into the window. */
let beats: number

beforeAll(async () => {
  seen = await idleWindow(windowMs, sizes)
  beats = Math.ceil(seen.ms / 10_000)
  // Longer than a hook may take while a mutant is tested.
}, 240_000)

describe.for(['sqlite', 'postgres'] as const)('%s', (store) => {
  test.for(sizes)('%i idle processes on one store', (size) => {
    const group = seen.groups.find((each) => each.store === store && each.reports.length === size)
    assert.ok(group)
    assert.equal(group.runs, 1, 'the processes work: a key that was added ran, once')
    for (const { calls, syncs } of group.reports) {
      const sum = Object.values(calls).reduce((total, count) => total + count, 0)
      assert.ok(sum >= 1, 'the heartbeat is seen, so that what is counted is there')
      assert.ok(sum <= beats, `calls of the store: ${JSON.stringify(calls)}`)
      assert.ok(syncs <= beats, `${syncs} syncs`)
    }
    assert.ok(group.statements <= beats * size, `${group.statements} statements`)
  })
})

test('transactions of Postgres that write', () => {
  const most = beats * sizes.reduce((sum, size) => sum + size, 0)
  assert.ok(seen.postgresWrites >= 1, 'registrations are written, so that writes are seen')
  assert.ok(seen.postgresWrites <= most, `${seen.postgresWrites} transactions wrote`)
})
