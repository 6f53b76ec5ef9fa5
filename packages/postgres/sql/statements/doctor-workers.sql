-- What workers of all queues say of themselves that were seen within $1 milliseconds.
select w.queue, w.holder, w.host, w.info from sluice.workers w
where w.seen_at >= sluice.present(null, null) - $1::float8 order by w.queue, w.holder
