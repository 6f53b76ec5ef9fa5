import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import { type BucketState, emptyKeyState, type KeyState, SluiceError } from '@sluice/core/driver'

/** Everything that is stored of one key. */
export interface Row {
  readonly state: KeyState
  item: string | undefined
  holder: string | undefined
  lastError: string | undefined
}

interface Contents {
  /** Tokens and positions in the order are never handed out twice. */
  last: number
  /** How far the time of the store is ahead of the wall clock, and when it was last written. */
  time: { readonly ahead: number; readonly latest: number }
  readonly queues: Map<string, Map<string, Row>>
  readonly buckets: Map<string, BucketState>
}

function empty(): Contents {
  return { last: 0, time: { ahead: 0, latest: 0 }, queues: new Map(), buckets: new Map() }
}

/** How a file is written. */
export interface FileOptions {
  /** What an acknowledged write survives: the end of the process, or also a power failure. */
  readonly durability?: 'process' | 'power'
}

/** All queues of a file. A write is in the file when it returns; a write that throws is undone. */
export class QueueFile {
  readonly #path: string
  readonly #durability: 'process' | 'power'
  #contents: Contents = empty()

  constructor(path: string, { durability = 'power' }: FileOptions) {
    this.#path = path
    this.#durability = durability
  }

  load(): void {
    try {
      this.#contents = deserialize(readFileSync(this.#path)) as Contents
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      this.#contents = empty()
    }
  }

  /** Changes the queues and writes the file. */
  write<T>(change: () => T): T {
    try {
      const answer = change()
      this.#save()
      return answer
    } catch (error) {
      // Undoes the change in memory.
      this.load()
      throw new SluiceError('ERR_STORE', `cannot write ${this.#path}`, { cause: error })
    }
  }

  /** A number greater than all before it. */
  next(): number {
    this.#contents.last += 1
    return this.#contents.last
  }

  rows(queue: string): Map<string, Row> {
    const rows = this.#contents.queues.get(queue) ?? new Map<string, Row>()
    this.#contents.queues.set(queue, rows)
    return rows
  }

  /** The row of a key; a new one if there is none. */
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

  get time(): Contents['time'] {
    return this.#contents.time
  }

  set time({ ahead, latest }: Contents['time']) {
    this.#contents.time = { ahead, latest }
  }

  get buckets(): Map<string, BucketState> {
    return this.#contents.buckets
  }

  #save(): void {
    const draft = `${this.#path}.new`
    const file = openSync(draft, 'w')
    try {
      writeSync(file, serialize(this.#contents))
      if (this.#durability === 'power') fsyncSync(file)
    } finally {
      closeSync(file)
    }
    // A reader finds the old file or the new one, never a part of either.
    renameSync(draft, this.#path)
  }
}
