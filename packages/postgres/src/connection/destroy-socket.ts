/** The parts of the socket of a client of `pg` that this package uses. */
interface Stream {
  readonly destroy?: (error?: Error) => void
  readonly bytesRead?: number
  readonly bytesWritten?: number
  readonly writableLength?: number
}

function streamOf(client: object): Stream | undefined {
  return (client as { connection?: { stream?: Stream } }).connection?.stream
}

/** How many bytes a client has read. The number does not change while its server is silent. */
export function bytesReadOf(client: object): number {
  return streamOf(client)?.bytesRead ?? 0
}

/** How many bytes have passed the socket of a client. The number does not change while it is silent. */
export function trafficOf(client: object): number {
  const { bytesRead = 0, bytesWritten = 0, writableLength = 0 } = streamOf(client) ?? {}
  return bytesRead + bytesWritten - writableLength
}

/**
 * Destroys the socket of a client of `pg` that does not answer; a polite end would wait for the server.
 * Returns whether there was a socket.
 */
export function destroySocket(client: object, error?: Error): boolean {
  const stream = streamOf(client)
  if (stream?.destroy === undefined) return false
  stream.destroy(error)
  return true
}
