import type { Driver } from '@sluice/core'

/** A driver that does something more around one of its verbs, within `transfer` or next to it. */
export function around(driver: Driver, name: string, extra: () => unknown): Driver {
  const wrap = (target: object): object =>
    new Proxy(target, {
      get(_, property) {
        const value = Reflect.get(target, property, target) as unknown
        if (property === 'transfer') return wrap(value as object)
        if (typeof value !== 'function') return value
        if (property !== name) return value.bind(target)
        return async (...rest: unknown[]) => {
          const answer: unknown = await value.apply(target, rest)
          await extra()
          return answer
        }
      },
    })
  return wrap(driver) as Driver
}
