-- functions/queues.sql.
select q.name from sluice.queues() as q(name) order by q.name
