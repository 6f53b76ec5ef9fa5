import { expect, test } from 'vitest'
import { allCases } from '../src/cases/all.ts'
import { allQueueCases } from '../src/queue-cases/all.ts'

/** Bugs of other queues, and the cases that catch them. */
const knownBugs: Readonly<Record<string, readonly string[]>> = {
  'an add of a running key is lost, or runs concurrently with it': [
    'add.held.again',
    'add.held.not-handed-out',
    'histories.linearizable',
  ],
  'an add that is merged while delayed comes late, or twice': ['delay.earlier.moves'],
  'events during back-off inflate it': ['retry.backoff.adds-do-not-inflate'],
  'an add that is merged costs a token': ['bucket.unchanged.free', 'bucket.unchanged.delayed.free'],
  'a stale owner finishes, fails or renews': [
    'fence.stale.done',
    'fence.stale.retry',
    'fence.stale.renew',
  ],
  'a sweep races done': ['lease.end.done', 'lease.end.renewed'],
  'a batch claim meets several runs of one key': ['add.waiting.once', 'lease.end.dirty.once'],
  'a rollback swallows an add that met it': ['transact.rollback.keeps-others'],
  'an item that waited longer than its lease is given out twice': ['lease.waited-long'],
  'two processes on one store get the same item': ['peers.share', 'histories.faults'],
  'depth is negative, or counts what is not ready': ['counts.recount', 'q-take.len'],
  'options of one item of a batch leak into the next': ['item.batch.own', 'batch.modes.own'],
  'a priority is lost on requeue': ['priority.retry.kept', 'priority.release.kept'],
  'an item is blocked for ever after a crash': ['lease.end.returns', 'q-lease.crash'],
  'a change during a lost connection is never noticed': ['q-wake.lost'],
  'a worker of a queue that is resumed waits for the next poll': ['watch.resume', 'q-wake.resume'],
  'a key that is removed while it runs breaks its end': ['remove.held'],
  'a clock that is set loses or doubles work': ['clock.back.nothing-lost', 'clock.forward'],
  'numbers do not fit into 32 bits': ['counts.cap.largest', 'delay.longest'],
  'a page of what cannot be rescued hides the rest': ['lease.end.reported.bounded'],
}

test.each(Object.entries(knownBugs))('%s', (_, ids) => {
  const known = new Set([...allCases, ...allQueueCases].map(({ id }) => id))
  expect(ids.filter((id) => !known.has(id))).toEqual([])
})
