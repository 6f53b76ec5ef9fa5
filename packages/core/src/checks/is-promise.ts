/**
 * Whether a value is a promise. One of an async function is not an instance of `Promise` where a program has
 * replaced that, as zone.js does, and neither is one of another realm.
 */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
}
