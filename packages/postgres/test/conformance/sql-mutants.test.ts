/**
 * The driver's SQL, broken in one place at a time: each break is noticed by a case of the suite. Where two
 * calls have to meet, see meetings.test.ts.
 */
import { allCases, runCase } from '@sluice/conformance'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrationSql } from '../../src/index.ts'
import { type Break, makeSchema } from '../support/broken-sql.ts'
import { type CaughtBreak, rareBreaks } from '../support/rare-sql-breaks.ts'
import { poolOf, startServer, type TestServer } from '../support/server.ts'
import { subjectsOn } from '../support/subjects.ts'

let server: TestServer
let pool: pg.Pool
let schemas = 0

beforeAll(async () => {
  server = await startServer()
  pool = poolOf(server.socketUrl)
})

afterAll(async () => {
  await pool.end()
  await server.stop()
})

const breaks: readonly CaughtBreak[] = [
  ...rareBreaks,
  {
    name: 'done of one key does not look at the token',
    from: ' and k.token is not distinct from in_tokens[1]',
    to: '',
    caughtBy: 'fence.stale.done',
  },
  {
    name: 'done does not look at the token',
    from: '\n        and k.token is not distinct from i.token\n',
    to: '\n',
    caughtBy: 'finish.batch.stale-alone',
  },
  {
    name: 'done of one key deletes what was asked for meanwhile',
    from: "in_tokens[1]\n      and k.due_at = 'Infinity' and",
    to: 'in_tokens[1] and',
    caughtBy: 'done.dirty.requeues',
  },
  {
    name: 'done deletes what was asked for meanwhile',
    from: "i.token\n        and k.due_at = 'Infinity' and not k.parked",
    to: 'i.token and not k.parked',
    caughtBy: 'order.done.batch',
  },
  {
    name: 'done of one key deletes its count of failures',
    from: ' and (in_forgets[1] or k.failures = 0)',
    to: '',
    caughtBy: 'done.failures.kept',
  },
  {
    name: 'renew does not look at the token',
    from: 'where k.queue_id = this_queue and k.token = i.token and k.key = i.key\n    for update skip locked) x;',
    to: 'where k.queue_id = this_queue and k.key = i.key\n    for update skip locked) x;',
    caughtBy: 'fence.stale.renew',
  },
  {
    name: 'a change of a held key forgets its holder',
    from: 'holder = case when u.held then k.holder end,',
    to: 'holder = null,',
    caughtBy: 'adopt.changed',
  },
  {
    name: 'a change of a held key forgets the trace contexts of its run',
    from: 'claimed_trace = case when u.held then k.claimed_trace end,',
    to: 'claimed_trace = null,',
    caughtBy: 'adopt.changed',
  },
  {
    name: 'parked keys without a pending run count towards maxPending',
    from: "and k.parked\n        and k.due_at < 'Infinity'\n      order by k.queue_id, k.key limit in_most",
    to: 'and k.parked\n      order by k.queue_id, k.key limit in_most',
    caughtBy: 'add.max-pending.delayed',
  },
  {
    name: 'a batch has no order of arrival',
    from: 'base + i.index, i.priority, t, 4',
    to: 'base - i.index, i.priority, t, 4',
    caughtBy: 'order.batch',
  },
  {
    name: 'second runs of one claim have one position',
    from: ' + array_position(picks, k.ctid)',
    to: '',
    caughtBy: 'order.second-runs',
  },
  {
    name: 'keys that are done keep the positions of their adds',
    from: 'seq = case when k.due_at <= m.t then base + l.index else k.seq end',
    to: 'seq = k.seq',
    caughtBy: 'order.done.batch',
  },
  {
    name: 'what is claimed first is not what was ready first',
    from: 'order by k.ready_at, k.seq limit in_limit',
    to: 'order by k.ready_at desc, k.seq desc limit in_limit',
    caughtBy: 'order.arrival',
  },
  {
    name: 'a claim takes its limit of each priority',
    from: 'k.seq limit in_limit - coalesce(cardinality(picks), 0)',
    to: 'k.seq limit in_limit',
    caughtBy: 'batch.claim.limit',
  },
  {
    name: 'a claim is served from one priority',
    from: 'exit when cardinality(picks) >= in_limit;',
    to: 'exit;',
    caughtBy: 'batch.claim.limit',
  },
  {
    name: 'a priority whose first key is not due ends the claim',
    from: 'exit when not found;',
    to: 'exit when not found or first_at > t;',
    caughtBy: 'size.priorities.starve',
  },
  {
    name: 'a key that is claimed alone comes without its count of failures',
    from: 'array[k.failures, k.crashes',
    to: 'array[0, k.crashes',
    caughtBy: 'retry.counts',
  },
  {
    name: 'a key that is added alone replaces its row',
    from: 'on conflict (queue_id, key) do nothing;',
    to: 'on conflict (queue_id, key) do update set due_at = excluded.due_at;',
    caughtBy: 'add.waiting.once',
  },
  {
    name: 'a claim takes what was not due by then',
    from: 'and k.due_at <= in_due_by',
    to: '',
    caughtBy: 'delay.due-by',
  },
  {
    name: 'tokens are drawn once for a batch',
    from: 'drawn[width_bucket(k.ctid, ctids)]',
    to: 'drawn[1]',
    caughtBy: 'fence.rises.batch',
  },
  {
    name: 'tokens are drawn in another order than that of claims',
    from: 'array_agg(n.token order by n.ctid)',
    to: 'array_agg(n.token order by n.ctid desc)',
    caughtBy: 'order.batch',
  },
  {
    name: 'a key that has crashed its workers twice is not alone',
    from: 'case when k.crashes <= crashes_max then k.ctid end',
    to: 'k.ctid',
    caughtBy: 'crash.alone.whole',
  },
  {
    name: 'a key that has crashed its workers twice is followed by others',
    from: 'in_limit := 1; crashes_max',
    to: 'crashes_max',
    caughtBy: 'crash.alone.whole',
  },
  {
    name: 'a claim does not ask whether the queue is paused',
    from: 'where q.name = in_queue and q.paused)\n    order by',
    to: 'where false)\n    order by',
    caughtBy: 'pause.claims-nothing',
  },
  {
    name: 'an earlier add does not move a delayed key',
    from: 'else least(k.due_at, excluded.due_at) end,',
    to: 'else k.due_at end,',
    caughtBy: 'delay.earlier.moves',
  },
  {
    name: 'long items do not come',
    from: 'if not are_short then',
    to: 'if false then',
    caughtBy: 'item.batch.long',
  },
  {
    name: 'a verb on a held key deletes due_at of its claimed run',
    from: 'claimed_due_at = case when u.held then k.claimed_due_at end,',
    to: 'claimed_due_at = null,',
    caughtBy: 'release.pending-run',
  },
  {
    name: 'a verb on a held key deletes later_at of its claimed run',
    from: 'claimed_later_at = case when u.held then k.claimed_later_at end,',
    to: 'claimed_later_at = null,',
    caughtBy: 'release.pending-run',
  },
  {
    name: 'a verb on a held key deletes ready_at of its claimed run',
    from: 'claimed_ready_at = case when u.held then k.claimed_ready_at end,',
    to: 'claimed_ready_at = null,',
    caughtBy: 'release.pending-run',
  },
  {
    name: 'a verb on a held key deletes asked_at of its claimed run',
    from: 'claimed_asked_at = case when u.held then k.claimed_asked_at end,',
    to: 'claimed_asked_at = null,',
    caughtBy: 'release.pending-run',
  },
  {
    name: 'a verb on a held key deletes seq of its claimed run',
    from: 'claimed_seq = case when u.held then k.claimed_seq end,',
    to: 'claimed_seq = null,',
    caughtBy: 'release.pending-run',
  },
  {
    name: 'a verb on a held key deletes priority of its claimed run',
    from: 'claimed_priority = case when u.held then k.claimed_priority end,',
    to: 'claimed_priority = null,',
    caughtBy: 'release.pending-run',
  },
  {
    name: 'a verb on a held key deletes the reason of its claimed run',
    from: 'claimed_why = case when u.held then k.claimed_why end',
    to: 'claimed_why = null',
    caughtBy: 'release.pending-run',
  },
  {
    name: 'a verb on a held key deletes the number of its claim',
    from: 'claim_id = case when u.held then k.claim_id end,',
    to: 'claim_id = null,',
    caughtBy: 'adopt.claims',
  },
  {
    name: 'done of one key deletes a parked one',
    from: ' and not k.parked and (in_forgets[1]',
    to: ' and (in_forgets[1]',
    caughtBy: 'operate.park.held.done',
  },
  {
    name: 'done deletes parked keys',
    from: "and k.due_at = 'Infinity' and not k.parked\n        and (i.forgets",
    to: "and k.due_at = 'Infinity'\n        and (i.forgets",
    caughtBy: 'operate.park.held.done',
  },
  {
    name: 'done deletes the failures of keys that are done together',
    from: '\n        and (i.forgets or k.failures = 0)\n      returning',
    to: '\n      returning',
    caughtBy: 'finish.batch.failures',
  },
  {
    name: 'a key that was added meanwhile keeps the failures that its finish forgets',
    from: 'failures = case when l.forgets then 0 else k.failures end,',
    to: '',
    caughtBy: 'finish.batch.failures',
  },
  {
    name: 'adding a held key that an operator parked returns parked',
    from: 'when k.parked and k.token is null then 3\n        when',
    to: 'when k.parked then 3\n        when',
    caughtBy: 'operate.park.held',
  },
  {
    name: 'the failures of a parked key expire',
    from: "failures = case when k.due_at = 'Infinity' and k.token is null and not k.parked",
    to: "failures = case when k.due_at = 'Infinity' and k.token is null",
    caughtBy: 'park.never-expires.idle',
  },
  {
    name: 'a second run is ordered by when the first was ready',
    from: "ready_at = case when k.later_at <= t then 'Infinity' else k.later_at end,",
    to: '',
    caughtBy: 'order.second-runs.tail',
  },
  {
    name: 'crashes do not expire with failures',
    from: "crashes = case when k.due_at = 'Infinity' and k.token",
    to: 'crashes = case when false and k.token',
    caughtBy: 'crash.expire',
  },
  {
    name: 'a second run forgets why it is delayed',
    from: 'when in_twice and excluded.why = 0 then k.why',
    to: 'when in_twice and excluded.why = 0 then 0',
    caughtBy: 'delay.second-run.reason',
  },
  {
    name: 'a waiting key that is added with another item was asked for just now',
    from: "asked_at = case when k.due_at = 'Infinity' then t else k.asked_at end",
    to: 'asked_at = t',
    caughtBy: 'add.asked-at.first',
  },
  {
    name: 'the crashes of a waiting key expire',
    from: "crashes = case when k.due_at = 'Infinity' and k.token",
    to: 'crashes = case when k.token',
    caughtBy: 'crash.expire',
  },
  {
    name: 'a waiting key forgets when it failed',
    from: "failed_at = case when k.due_at = 'Infinity' and k.token",
    to: 'failed_at = case when k.token',
    caughtBy: 'failures.expire.pending',
  },
  {
    name: "a delayed add that changes nothing under 'earliest' returns added",
    from: 'when in_twice and excluded.why > 0 and (k.later_at',
    to: 'when excluded.why > 0 and (k.later_at',
    caughtBy: 'delay.earliest.add-then-delay',
  },
  {
    name: 'a second run does not know that it is delayed',
    from: 'then excluded.why else k.later_why end',
    to: 'then k.later_why else k.later_why end',
    caughtBy: 'delay.client-go.add-then-delay',
  },
  {
    name: 'an add that changes nothing of a parked key returns unchanged',
    from: 'case when k.parked and k.token is null then 3 else 0 end, k.due_at',
    to: '0, k.due_at',
    caughtBy: 'park.adds.kept',
  },
  {
    name: 'an add that changes nothing returns the state of the key in another queue',
    from: 'where x.queue_id = this_queue and x.key = i.key offset 0) k;',
    to: 'where x.key = i.key offset 0) k;',
    caughtBy: 'add.waiting.due-at',
  },
  {
    name: 'keys that are claimed together were asked for when they were ready',
    from: "array_agg(coalesce(c.claimed_asked_at, 'Infinity'))",
    to: 'array_agg(c.claimed_ready_at)',
    caughtBy: 'release.delayed.position',
  },
]

test.each(breaks)('$name: $caughtBy notices', async ({ caughtBy, ...broken }) => {
  const subjects = (which?: Break) =>
    subjectsOn({
      url: server.socketUrl,
      driver: { pool, migrate: 'verify' },
      schema: () => {
        schemas += 1
        return `mutant_${schemas}`
      },
      prepare: (schema) => makeSchema(server.socketUrl, schema, which),
    })
  expect(migrationSql({ schema: 'any' }), 'the text to break').toContain(broken.from)
  const chosen = allCases.find(({ id }) => id === caughtBy)!
  const { verdict } = await runCase(chosen, subjects(broken), { timeoutMs: 20_000 })
  expect(verdict).toBe('failed')
})
