-- functions/claim-adopt.sql. $1 queue, $2 claim id.
select key, item, token, failures, crashes, priority, asked_at, ready_at, at, trace
from sluice.claim_adopt($1::text, $2::text)
