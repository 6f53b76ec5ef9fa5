/** The part of an informer of `@kubernetes/client-node` that is used, as a structure. */
export interface InformerLike<T> {
  on(verb: 'add' | 'update' | 'delete', callback: (object: T) => void): void
  on(verb: 'error', callback: (error?: unknown) => void): void
  off(verb: 'add' | 'update' | 'delete', callback: (object: T) => void): void
  off(verb: 'error', callback: (error?: unknown) => void): void
  start(): Promise<void>
  stop(): Promise<void>
  /** The objects in its cache. */
  list(): readonly T[]
}
