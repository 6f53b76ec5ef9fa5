import { type Awaitable, isPromise, SluiceError } from '@sluice/core'

/**
 * A module of this package that a page in a browser fetches when it is needed first. From the second
 * time on, and everywhere else, it is there synchronously.
 */
export class LateModule<Module> {
  readonly #import: () => Promise<Module>
  #loading: Promise<Module> | undefined
  /** The module, once it was loaded. */
  loaded: Module | undefined
  /** Whether it was loaded with the module that asks for it. */
  isPresent = false

  constructor(importIt: () => Promise<Module>) {
    this.#import = importIt
  }

  /** A module that was loaded with the one that asks for it. */
  static present<Module>(module: Module): LateModule<Module> {
    const late = new LateModule<Module>(async () => module)
    late.loaded = module
    late.isPresent = true
    return late
  }

  get(): Awaitable<Module> {
    if (this.loaded !== undefined) return this.loaded
    this.#loading ??= this.#load()
    return this.#loading
  }

  async #load(): Promise<Module> {
    try {
      this.loaded = await this.#import()
      return this.loaded
    } catch (cause) {
      this.#loading = undefined
      throw new SluiceError(
        'ERR_STORE',
        'cannot load a part of sluice; check that all files of the program can still be read',
        { cause, retryable: true },
      )
    }
  }
}

/** Calls of an object that `get` makes; while it is being made, they wait for it. */
export function lateCalls<T extends object, Name extends keyof T>(
  names: readonly Name[],
  get: () => Awaitable<T>,
): Pick<T, Name> {
  const call = (name: Name, args: readonly unknown[]): unknown => {
    const answer = (made: T): unknown =>
      (made[name] as (...args: unknown[]) => unknown).apply(made, [...args])
    const made = get()
    return isPromise(made) ? made.then(answer) : answer(made)
  }
  return Object.fromEntries(
    names.map((name) => [name, (...args: unknown[]) => call(name, args)]),
  ) as Pick<T, Name>
}
