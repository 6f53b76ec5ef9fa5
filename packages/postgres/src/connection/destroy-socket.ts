/** What this package uses of the socket of a client of `pg`. */
interface Stream {
  readonly destroy?: () => void
  readonly bytesRead?: number
  readonly bytesWritten?: number
  readonly writableLength?: number
}

function streamOf(client: object): Stream | undefined {
  return (client as { connection?: { stream?: Stream } }).connection?.stream
}

/** How much has gone over the socket of a client: what does not change is silent. */
export function trafficOf(client: object): number {
  const { bytesRead = 0, bytesWritten = 0, writableLength = 0 } = streamOf(client) ?? {}
  return bytesRead + bytesWritten - writableLength
}

/**
 * Cuts the socket of a client of `pg` that does not answer; a polite end would wait for it. Says
 * whether there was one.
 */
export function destroySocket(client: object): boolean {
  const stream = streamOf(client)
  if (stream?.destroy === undefined) return false
  stream.destroy()
  return true
}
