-- functions/find-locked-keys.sql. $1 queue, $2 keys, $3 whether the batch creates keys.
select b.key
from sluice.find_locked_keys($1::text, $2::text[], $3::boolean) as b(key)
