-- See queue_names in the migrations.
select q.name from sluice.queues() as q(name) order by q.name
