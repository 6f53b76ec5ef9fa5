import type { Driver } from '@sluice/core'

/** The verbs that open or close the store, or that call no store. */
const free: ReadonlySet<PropertyKey> = new Set(['open', 'close', 'watch', 'transact', 'direct'])

/** A driver that counts the calls of its verbs, by name. */
export function countedDriver(driver: Driver, calls: Record<string, number>): Driver {
  return new Proxy(driver, {
    get(_, name) {
      const value: unknown = Reflect.get(driver, name, driver)
      if (typeof value !== 'function') return value
      if (typeof name !== 'string' || free.has(name)) return value.bind(driver)
      return (...args: unknown[]) => {
        calls[name] = (calls[name] ?? 0) + 1
        return Reflect.apply(value, driver, args)
      }
    },
  })
}
