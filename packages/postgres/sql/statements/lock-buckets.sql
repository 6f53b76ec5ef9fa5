-- functions/lock-buckets.sql. $1 names.
select name, tokens, at from sluice.lock_buckets($1::text[])
