-- Refuses the name of a queue, or a key, that the library would refuse.
create or replace function sluice.check_names(in_queue text, in_keys text[])
returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare wrong text; named text;
begin
  wrong := case
    when in_queue is null then 'queue must not be null'
    when in_queue = '' then 'queue must not be empty'
    when octet_length(convert_to(in_queue, 'UTF8')) > 128 then 'queue must be at most 128 bytes'
    when starts_with(in_queue, 'sluice:metrics:')
      then format('queue must not begin with sluice:metrics:, which is reserved; got %s', in_queue)
    when in_keys is null then 'keys must not be null'
    when exists (select from unnest(in_keys) i(key) where i.key is null) then 'key must not be null'
    when exists (select from unnest(in_keys) i(key) where i.key = '') then 'key must not be empty'
    when exists (select from unnest(in_keys) i(key) where octet_length(convert_to(i.key, 'UTF8')) > 512)
      then 'key must be at most 512 bytes'
    end;
  if wrong is null then
    for named in select i.key from unnest(in_keys) i(key) where starts_with(i.key, 'json:') loop
      -- A claim would read the rest as the item.
      begin
        perform substr(named, 6)::json;
      exception when others then
        wrong := format('key must be json: and the JSON text of an item; got %s', left(named, 100));
      end;
    end loop;
  end if;
  if wrong is not null then raise exception using errcode = '22023', message = 'sluice: ' || wrong; end if;
end
$body$;
