-- Every bucket that was ever charged.
select name, per_second, burst, tokens, at from sluice.buckets
where tokens is not null order by name
