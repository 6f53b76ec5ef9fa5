-- interface: 1
-- Removes the pending runs of a key: returns cancelled or unchanged.
create or replace function sluice.cancel(queue text, key text)
returns text language plpgsql security definer
-- @include settings
as $body$
#variable_conflict use_column
declare
  in_queue constant text := $1;
  in_key constant text := $2;
  this_queue bigint; row sluice.keys;
begin
  perform sluice.check_names(in_queue, array[in_key]);
  this_queue := sluice.queue_number(in_queue);
  select k.* into row from sluice.keys k where k.queue_id = this_queue and k.key = in_key for update;
  if not found or row.due_at = 'Infinity' then return 'unchanged'; end if;
  if row.token is null and row.failures = 0 and row.crashes = 0 and not row.parked then
    delete from sluice.keys k where k.queue_id = this_queue and k.key = in_key;
  else
    update sluice.keys k set due_at = 'Infinity', later_at = 'Infinity', trace = null
    where k.queue_id = this_queue and k.key = in_key;
  end if;
  return 'cancelled';
end
$body$;
