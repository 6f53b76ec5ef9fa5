-- The columns of a key, for key-row.ts. Named one by one: a prepared statement fails when its row gets
-- another column.
(l.state).due_at, (l.state).why, (l.state).later_at, (l.state).later_why, (l.state).ready_at,
(l.state).seq, (l.state).priority, (l.state).asked_at, (l.state).failures, (l.state).crashes,
(l.state).failed_at, (l.state).parked, (l.state).token, (l.state).lease_until,
(l.state).claimed_due_at, (l.state).claimed_why, (l.state).claimed_later_at,
(l.state).claimed_ready_at, (l.state).claimed_seq, (l.state).claimed_priority,
(l.state).claimed_asked_at, (l.state).key, (l.state).holder, (l.state).trace,
(l.state).claimed_trace
