import type { Ask, Finish } from '@sluice/core'

/** The keys of a request to a driver, in its order. */
export function keysOf(request: unknown): string[] {
  return (request as (string | Ask | Finish)[]).map((one) =>
    typeof one === 'string' ? one : one.key,
  )
}
