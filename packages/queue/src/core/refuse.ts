import { SluiceRangeError, SluiceTypeError } from '@sluice/core'

/**
 * Throws `error`. What it says of `item` is said of the first of `items` that `check` refuses: its parameter
 * `item.id` is then `items[3].id`. That of the only item stays as it is.
 */
export function refuse(
  error: unknown,
  items: readonly unknown[],
  check: (item: never) => unknown,
): never {
  const isType = error instanceof SluiceTypeError
  if (!(isType || error instanceof SluiceRangeError)) throw error
  if (!Array.isArray(items) || items.length < 2) throw error
  const at = items.findIndex((item) => {
    try {
      check(item as never)
      return false
    } catch {
      return true
    }
  })
  if (at < 0) throw error
  const { cause, message, parameter } = error
  const name = parameter.replace('item', `items[${at}]`)
  const text = message.slice(parameter.length + 1, message.lastIndexOf(' ['))
  throw new (isType ? SluiceTypeError : SluiceRangeError)(name, text, cause ? { cause } : {})
}
