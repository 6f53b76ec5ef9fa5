/**
 * The options of a socket, with which Node listens to its errors as long as it lives, for the sake of the signal.
 * The libraries listen to the first error only, and a socket of TLS may emit another: it would end the process.
 */
export function withErrorListener(socket: object): object {
  return { signal: new AbortController().signal, ...socket }
}
