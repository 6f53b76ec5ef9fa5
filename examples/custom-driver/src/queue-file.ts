import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import { type BucketState, emptyKeyState, type KeyState, SluiceError } from '@sluice/core'

/** Everything that is kept of one key. */
export interface Row {
  readonly state: KeyState
  item: string | undefined
  holder: string | undefined
  lastError: string | undefined
}

interface Kept {
  /** Tokens and places in line are never given out twice. */
  last: number
  /** How far the time of the store is ahead of the wall clock, and when it was last written. */
  time: { readonly ahead: number; readonly latest: number }
  readonly queues: Map<string, Map<string, Row>>
  readonly buckets: Map<string, BucketState>
}

function empty(): Kept {
  return { last: 0, time: { ahead: 0, latest: 0 }, queues: new Map(), buckets: new Map() }
}

/** How a file is kept. */
export interface FileOptions {
  /** What a write that has returned outlives: the end of the process, or of the power too. */
  readonly durability?: 'process' | 'power'
}

/** All queues of a file. A write is in the file when it returns, or was never made. */
export class KeptFile {
  readonly #path: string
  readonly #durability: 'process' | 'power'
  #kept: Kept = empty()

  constructor(path: string, { durability = 'power' }: FileOptions) {
    this.#path = path
    this.#durability = durability
  }

  load(): void {
    try {
      this.#kept = deserialize(readFileSync(this.#path)) as Kept
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      this.#kept = empty()
    }
  }

  /** Does something to the queues, and keeps what came of it. */
  write<T>(change: () => T): T {
    try {
      const answer = change()
      this.#save()
      return answer
    } catch (error) {
      // What was done in memory only is taken back.
      this.load()
      throw new SluiceError('ERR_STORE', `cannot write ${this.#path}`, { cause: error })
    }
  }

  /** A number greater than all before it. */
  next(): number {
    this.#kept.last += 1
    return this.#kept.last
  }

  rows(queue: string): Map<string, Row> {
    const rows = this.#kept.queues.get(queue) ?? new Map<string, Row>()
    this.#kept.queues.set(queue, rows)
    return rows
  }

  /** The row of a key, made if there is none. */
  row(queue: string, key: string): Row {
    const rows = this.rows(queue)
    const row = rows.get(key) ?? {
      state: emptyKeyState(),
      item: undefined,
      holder: undefined,
      lastError: undefined,
    }
    rows.set(key, row)
    return row
  }

  get time(): Kept['time'] {
    return this.#kept.time
  }

  set time({ ahead, latest }: Kept['time']) {
    this.#kept.time = { ahead, latest }
  }

  get buckets(): Map<string, BucketState> {
    return this.#kept.buckets
  }

  #save(): void {
    const beside = `${this.#path}.new`
    const file = openSync(beside, 'w')
    try {
      writeSync(file, serialize(this.#kept))
      if (this.#durability === 'power') fsyncSync(file)
    } finally {
      closeSync(file)
    }
    // Whoever reads the file finds the old one or the new one, and never half of either.
    renameSync(beside, this.#path)
  }
}
