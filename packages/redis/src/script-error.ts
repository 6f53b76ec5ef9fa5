import { type ErrorCode, SluiceError } from '@sluice/core'
import { ReplyError } from './connection/connections.ts'
import { storeError } from './connection/errors.ts'
import type { Store } from './store.ts'

const scriptCodes: Readonly<Record<string, ErrorCode>> = {
  SLUICEDAMAGED: 'ERR_STORE_DAMAGED',
  SLUICELAYOUT: 'ERR_SCHEMA_NEWER',
  SLUICETOKENS: 'ERR_STORE',
}

/** The errors of scripts. */
export function scriptError(error: unknown, queue: string): SluiceError {
  if (!(error instanceof ReplyError)) return storeError(error)
  const said = error.message.replace(/^\w+ /, '').replace(/ script: .*$/, '')
  // A script stops in its own code only where a part of what it reads is missing.
  const isStopped = said.startsWith('user_script:')
  const code = isStopped ? 'ERR_STORE_DAMAGED' : scriptCodes[error.code]
  if (code === undefined) return storeError(error)
  const message = isStopped
    ? `a part of the queue ${queue} is missing: keys of it were deleted, as a full server does or another program; restore a backup, or purge the queue`
    : said
  return new SluiceError(code, message, { cause: error })
}

/** The Redis keys of a queue that have another type than the queue stores. Needs no command that queues do not need. */
const mistyped = `#!lua flags=no-writes
local found = {}
for at, key in ipairs(KEYS) do
  -- The sorted sets come after the rows, items and errors.
  local size = redis.pcall(at > 3 and at < 12 and 'ZCARD' or 'HLEN', key)
  if type(size) == 'table' then found[#found + 1] = key end
end
return found`

/** Which Redis keys of a queue another program has written over, in words; undefined if none. */
export async function wrongTypes(store: Store, queue: string): Promise<string | undefined> {
  const { all, recorded, slot } = store.layout.of(queue)
  const keys = [...all, ...recorded]
  const found = await store.read(slot, ['EVAL', mistyped, String(keys.length), ...keys])
  const names = found as readonly string[]
  if (names.length === 0) return undefined
  return `another program has written over the Redis key ${names.join(', ')}: delete it`
}

/** The error of a queue of which a Redis key has another type; undefined for any other one. */
export async function wrongTypeError(
  store: Store,
  error: unknown,
  queue: string,
): Promise<SluiceError | undefined> {
  if (!(error instanceof ReplyError && error.code === 'WRONGTYPE')) return undefined
  const words = await wrongTypes(store, queue).catch(() => undefined)
  const message = `a part of the queue ${queue} cannot be read: ${words ?? error.message}`
  return new SluiceError('ERR_STORE_DAMAGED', message, { cause: error })
}
