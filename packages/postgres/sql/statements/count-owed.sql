-- How many keys are owed a run, as far as $2. $1 queue.
select count(*)::int as owed from (
  select from sluice.keys k where k.queue = $1::text and k.due_at < 'Infinity' limit $2::int) x
