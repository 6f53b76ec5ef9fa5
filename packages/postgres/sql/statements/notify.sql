-- A notice for all processes that listen. $1 channel, $2 payload.
select true as sent from pg_catalog.pg_notify($1::text, $2::text)
