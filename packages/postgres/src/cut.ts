/**
 * Cuts the socket of a client of `pg` that does not answer; a polite end would wait for it. Says
 * whether there was one.
 */
export function cut(client: object): boolean {
  const { connection } = client as { connection?: { stream?: { destroy?: () => void } } }
  const stream = connection?.stream
  if (stream?.destroy === undefined) return false
  stream.destroy()
  return true
}
