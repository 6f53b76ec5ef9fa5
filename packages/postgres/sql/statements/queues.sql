-- See queue_names in the migrations.
select q.name from sluice.queue_names() as q(name) order by q.name
