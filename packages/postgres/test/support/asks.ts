import type { Ask, AskOptions } from '@sluice/core'

export const askOptions: AskOptions = { dedupe: 'client-go', failuresExpireMs: 86_400_000 }

export function ask(key: string, priority = 0): Ask {
  return { key, item: undefined, priority, delayMs: 0 }
}

/** A statement that adds keys with one prefix, as users of SQL do. */
export function addManySql(schema: string, prefix: string, count: number): string {
  return `select count(*) from ${schema}.add_many('q',
    array(select '${prefix}' || n from generate_series(1, ${count}) n))`
}
