-- The number that stands for a queue: the first eight bytes of the SHA-256 of its name. An index
-- compares numbers in a fraction of the time that texts take, and most of a claim is comparisons. All
-- versions of Sluice have to compute the same number.
--
-- This function, ahead_ms and present consist of one expression each, which the planner puts into the
-- calling statement; names in them were resolved when they were created. This one is immutable but for
-- the encoding of the database; declared so, it would be called for each statement, at 20 us each.
create or replace function sluice.queue_number(name text) returns bigint language sql stable
return cast(cast('x' operator(pg_catalog.||) pg_catalog.encode(
  pg_catalog.substr(pg_catalog.sha256(pg_catalog.convert_to(name, 'UTF8')), 1, 8), 'hex'
) as bit(64)) as bigint);
