#!lua flags=allow-oom
-- Raises the last token that was handed out. Argument: a number above which the next ones are to be.
-- @include begin
local floor = numberArgument()
if floor > lastToken then call('HSET', scopeKey, 'token', floor) end
return answer()
