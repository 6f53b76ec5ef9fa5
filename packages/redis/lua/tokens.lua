#!lua flags=allow-oom
-- The last token that was handed out. Argument: '' or a number above which the next ones are to be.
-- Reply: that token.
-- @include begin
local floor = numberArgument()
if floor and floor > lastToken then
  call('HSET', scopeKey, 'token', floor)
  lastToken = floor
end
return answer(reply(lastToken))
