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
    // A text that nothing reads keeps its connection.
    await answer.body?.cancel()
    if (answer.ok) return
    if (answer.status === 429 || answer.status >= 500) {
      const error = new Error(`the partner answered ${answer.status}`)
      const retryAfterMs = Number(answer.headers.get('retry-after') ?? 0) * 1_000
      // Of 0, and of a date, which is not a number, nothing is kept: the limiter decides.
      throw Object.assign(error, { retryAfterMs })
    }
    // It will say the same tomorrow.
    throw new TerminalError(`the partner does not want it: ${answer.status}`)
  }
}
