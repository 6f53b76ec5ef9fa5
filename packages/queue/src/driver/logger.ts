/**
 * Where a queue and its workers write what they notice: the methods that pino, winston and the
 * console have in common. Each is called with one line of text.
 */
export interface Logger {
  /** A worker has started or stopped. */
  info(message: string): void
  /** A run has failed and is retried, or a worker has vanished. */
  warn(message: string): void
  /** A key is not retried any more, or something failed that no call can return. */
  error(message: string): void
}
