-- Which version the schema is at.
select coalesce(max(version), 0) as version from sluice.migrations
