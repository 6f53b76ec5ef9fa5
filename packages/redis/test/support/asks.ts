import type { Ask, AskOptions } from '@sluice/core'

export const askOptions: AskOptions = { dedupe: 'client-go', failuresExpireMs: 86_400_000 }

export function ask(key: string, priority = 0): Ask {
  return { key, item: undefined, priority, delayMs: 0 }
}
