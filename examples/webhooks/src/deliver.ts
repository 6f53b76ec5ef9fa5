import { type Handler, TerminalError } from 'sluice'
import type { Shop } from './shop.ts'

/** Sends the order of a key to a partner. How it ends says what becomes of the key. */
export function deliverTo(address: string, shop: Shop): Handler<string> {
  return async (key, { signal, token }) => {
    const order = shop.find(key.slice('order/'.length))
    // Deleted meanwhile: there is nothing to tell.
    if (order === undefined) return

    const answer = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-fencing-token': String(token) },
      body: JSON.stringify(order),
      signal,
    })
    if (answer.ok) return
    if (answer.status === 429) {
      const seconds = Number(answer.headers.get('retry-after') ?? 1)
      return { requeueAfterMs: seconds * 1_000 }
    }
    if (answer.status >= 500) throw new Error(`the partner answered ${answer.status}`)
    // It will say the same tomorrow.
    throw new TerminalError(`the partner does not want it: ${answer.status}`)
  }
}
