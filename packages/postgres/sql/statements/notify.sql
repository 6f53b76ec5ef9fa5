-- A hint for everybody who listens. $1 channel, $2 queue.
select pg_notify($1::text, $2::text)
