-- Writes back a key that was read and changed in this transaction.
-- Parameters: the columns in their order, id.
-- Why this plan: by rowid. No other connection can have changed the row: the transaction began immediate.
update sluice_keys
set
  due_at = ?, due_why = ?, later_at = ?, later_why = ?, ready_at = ?, seq = ?, priority = ?,
  asked_at = ?, token = ?, lease_until = ?, holder = ?, claim = ?,
  next_due_at = ?, next_why = ?, next_seq = ?, next_priority = ?, next_asked_at = ?,
  next_later_at = ?, next_later_why = ?,
  failures = ?, crashes = ?, failed_at = ?, parked = ?, item = ?, last_error = ?,
  trace = ?, next_trace = ?
where id = +?
