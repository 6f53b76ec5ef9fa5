-- Pauses or resumes a queue; returns whether that changed anything.
create or replace function sluice.operate_pause(in_queue text, in_paused boolean) returns boolean
language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
begin
  if in_paused then
    insert into sluice.queues as q (name, paused) values (in_queue, true)
    on conflict (name) do update set paused = true where not q.paused;
  else
    update sluice.queues q set paused = false where q.name = in_queue and q.paused;
  end if;
  return found;
end
$body$;
