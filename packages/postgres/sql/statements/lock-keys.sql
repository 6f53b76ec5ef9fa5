-- functions/lock-keys.sql. $1 queue, $2 keys, $3 whether to create, $4 now or null, $5 the least that
-- the present is, $6 how many ms to wait for a locked row where the session has no lock_timeout;
-- null to wait 50 ms in any case. $7 how long an item or error may be that is returned; in place of a
-- longer one is chr(1), which no JSON begins with, and which write_keys leaves as it is. Null for all.
select l.now, l.base,
  case when octet_length((l.state).item) > $7::int then chr(1) else (l.state).item end as item,
  case when octet_length((l.state).last_error) > $7::int then chr(1) else (l.state).last_error end
    as last_error,
  -- @include key-columns
from sluice.lock_keys($1::text, $2::text[], $3::boolean, $4::float8, $5::float8,
  case when $6::text is not null then coalesce(nullif(current_setting('lock_timeout'), '0'), $6::text) end) l
