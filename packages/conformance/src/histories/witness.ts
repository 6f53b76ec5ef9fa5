/**
 * An observer outside the store that sees handlers begin and end, independent of the driver's
 * answers. A real one is a unique index in another database, into which handlers write.
 */
export interface Witness {
  /** A handler begins to work on a key. Throws if another handler works on it. */
  enter(key: string, client: string): void | Promise<void>
  /** The handler that works on a key has stopped. */
  leave(key: string): void | Promise<void>
  /** Closes the witness. */
  close(): void | Promise<void>
}

/** A witness in memory. */
export function memoryWitness(): Witness {
  const inside = new Map<string, string>()
  return {
    enter(key, client) {
      const other = inside.get(key)
      if (other !== undefined) throw new Error(`${other} and ${client} both work on ${key}`)
      inside.set(key, client)
    },
    leave(key) {
      inside.delete(key)
    },
    close() {},
  }
}
