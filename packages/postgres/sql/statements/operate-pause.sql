-- functions/operate-pause.sql. $1 queue, $2 whether to pause.
select sluice.operate_pause($1::text, $2::boolean) as changed
