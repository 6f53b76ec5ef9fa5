-- The store's own time.
select sluice.present(null) as now
