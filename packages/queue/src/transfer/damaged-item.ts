import { quoted, SluiceError } from '@sluice/core'

/** The error of a key of which the item cannot be exported or moved. */
export function damagedItem(
  queue: string,
  key: string,
  { what, call, cause }: { what: string; call: 'export' | 'move'; cause?: unknown },
): SluiceError {
  const name = `the item of key ${quoted(key)} of queue ${quoted(queue)}`
  return new SluiceError(
    'ERR_STORE_DAMAGED',
    `${name} ${what}: add the key with its item, or remove it, and repeat the ${call}`,
    { cause },
  )
}
