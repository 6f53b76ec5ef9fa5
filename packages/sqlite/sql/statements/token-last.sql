-- The last token that was given out. Tokens come from the store and not from the key's row, since
-- the row goes when the key is done.
select token
from sluice_store
where id = 1
