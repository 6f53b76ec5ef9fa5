import type { Break } from './broken-sql.ts'

/** One break, and the case of the suite that notices it. */
export interface CaughtBreak extends Break {
  readonly caughtBy: string
}

/** Breaks of the SQL that counts and lists keys, keeps workers and histories, or serves operators. */
export const rareBreaks: readonly CaughtBreak[] = [
  {
    name: 'a tick sweeps failures that have not expired',
    from: 'and x.failed_at is not null and x.failed_at <= t - in_expire and x.failed_at + in_expire <= t',
    to: 'and x.failed_at is not null',
    caughtBy: 'tick.sweeps.only-stale',
  },
  {
    name: 'keys of other states come on another page',
    from: '    has_more := in_keys is null and looked >= in_look;',
    to: '    has_more := in_keys is null and (matched >= in_limit or looked >= in_look);',
    caughtBy: 'list.pages.last-of-state',
  },
  {
    name: 'a queue is listed while it had a worker',
    from: ' where w.seen_at >= t - 86400000;',
    to: ';',
    caughtBy: 'workers.day.queue',
  },
  {
    name: 'a worker that has gone is never deleted',
    from: 'and w.seen_at < t - 86400000;',
    to: 'and false;',
    caughtBy: 'workers.day.replaced',
  },
  {
    name: 'a purge clears the held keys of every queue',
    from: 'where k.ctid = any (picks) and k.token is not null',
    to: 'where k.token is not null',
    caughtBy: 'purge.everything-not-held',
  },
  {
    name: 'a purge leaves the crashes of held keys',
    from: 'failures = 0, crashes = 0,\n    failed_at = null, parked = false',
    to: 'failures = 0,\n    failed_at = null, parked = false',
    caughtBy: 'purge.held.kept',
  },
  {
    name: 'a purge removes what is added meanwhile',
    from: '\n        and k.seq <= in_last',
    to: '',
    caughtBy: 'concurrent.queues.purge-adds',
  },
  {
    name: 'a resume resumes every queue',
    from: 'where q.name = in_queue and q.paused;',
    to: 'where q.paused;',
    caughtBy: 'pause.one-queue',
  },
  {
    name: 'the pause of another queue takes the next time from a tick',
    from: 'where q.name = in_queue and q.paused) then',
    to: 'where q.paused) then',
    caughtBy: 'pause.one-queue',
  },
  {
    name: 'a queue that was paused once stays listed',
    from: 'q where q.paused\n',
    to: 'q\n',
    caughtBy: 'queues.listed',
  },
  {
    name: 'the leases of other queues set the next time of a tick',
    from: 'where k.queue_id = this_queue and k.token is not null;',
    to: 'where k.token is not null;',
    caughtBy: 'tick.next.nothing',
  },
  {
    name: 'a sweep takes the keys of other queues',
    from: 'where x.queue_id = this_queue and x.token is null and not x.parked',
    to: 'where x.token is null and not x.parked',
    caughtBy: 'tick.sweeps.only-stale',
  },
  {
    name: 'a worker that comes again keeps its old process id',
    from: 'pid = excluded.pid,',
    to: '',
    caughtBy: 'workers.registered',
  },
  {
    name: 'the longer steps of a history are kept as briefly as the shortest',
    from: 'and h.step_ms = step and h.at',
    to: 'and h.at',
    caughtBy: 'history.bounded',
  },
  {
    name: 'a history has the depth of another queue',
    from: 'where h.queue_id = this_queue and h.step_ms = in_steps[1] and',
    to: 'where h.step_ms = in_steps[1] and',
    caughtBy: 'history.per-queue',
  },
  {
    name: 'the longer steps of a history keep their first depth',
    from: 'held = excluded.held,',
    to: '',
    caughtBy: 'history.depth',
  },
  {
    name: 'the failed runs of other queues push out those of a queue',
    from: 'where x.queue_id = this_queue\n    order by x.at desc',
    to: 'where true\n    order by x.at desc',
    caughtBy: 'history.per-queue',
  },
  {
    name: 'ready keys are counted once for each priority',
    from: 'and k.priority = l.priority and k.ready_at <= t\n',
    to: 'and k.ready_at <= t\n',
    caughtBy: 'counts.one-state',
  },
  {
    name: 'idle keys of other queues are counted',
    from: "where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at = 'Infinity'\n      and k.failed_at is not null limit in_cap",
    to: "where k.token is null and not k.parked and k.due_at = 'Infinity'\n      and k.failed_at is not null limit in_cap",
    caughtBy: 'counts.one-state',
  },
  {
    name: 'a held key that an operator parked is counted twice',
    from: 'k.token is null and k.parked limit in_cap',
    to: 'k.parked limit in_cap',
    caughtBy: 'operate.park.held',
  },
  {
    name: 'counts report the pause of another queue',
    from: 'where q.name = in_queue and q.paused),',
    to: 'where q.paused),',
    caughtBy: 'pause.one-queue',
  },
  {
    name: 'counting does not see that there is one more key than it counts',
    from: 'limit 2 * in_cap + 1',
    to: 'limit 2 * in_cap',
    caughtBy: 'counts.cap.exact',
  },
  {
    name: 'counts of idle keys do not report that they are cut',
    from: 'n_parked, n_idle) > in_cap',
    to: 'n_parked) > in_cap',
    caughtBy: 'counts.cap.each',
  },
  {
    name: 'dirty keys of other queues count towards maxPending',
    from: "k.queue_id = this_queue and k.token is not null\n        and k.due_at < 'Infinity'",
    to: "k.token is not null\n        and k.due_at < 'Infinity'",
    caughtBy: 'add.max-pending.counted',
  },
  {
    name: 'a dirty key that an operator parked counts twice towards maxPending',
    from: "k.token is null and k.parked\n        and k.due_at < 'Infinity'",
    to: "k.parked\n        and k.due_at < 'Infinity'",
    caughtBy: 'add.max-pending.unparked',
  },
  {
    name: 'a delayed key that an operator parked is counted twice',
    from: "and k.token is null and not k.parked and k.due_at < 'Infinity'\n      and k.priority = l.priority and k.ready_at > t",
    to: "and k.token is null and k.due_at < 'Infinity'\n      and k.priority = l.priority and k.ready_at > t",
    caughtBy: 'operate.park.waiting',
  },
]
