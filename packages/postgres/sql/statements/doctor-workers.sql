-- What workers say of themselves, of all queues, if they have been seen within $1 milliseconds.
select w.queue, w.holder, w.host, w.info from sluice.workers w
where w.seen_at >= sluice.present(null, null) - $1::float8 order by w.queue, w.holder
