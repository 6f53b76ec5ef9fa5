import { noRow as noRowImported, RowLinks } from './row-links.ts'

// A constant of this very module is folded into the code; an imported one is looked up each time.
const noRow = noRowImported

/** The width of a row in {@link RowChunk.numbers}: `dueAt`, `askedAt` and `seq`. */
export const numberWidth = 3
/** Texts that few keys have: items that are not their keys, errors, trace contexts of pending runs. */
export const text = { item: 0, error: 1, trace: 2 } as const

const chunkBits = 12
/** How many rows a chunk has; the first one grows up to this. */
const chunkRows = 1 << chunkBits
/** `row & rowMask` is the index of a row in its chunk. */
export const rowMask: number = chunkRows - 1
const firstChunkRows = 64

/**
 * A few thousand rows. Members that most keys have are in columns that are created with the chunk;
 * texts that few keys have are in arrays that grow with the first such key.
 */
export class RowChunk {
  readonly numbers: Float64Array
  readonly keys: string[]
  /** The columns of {@link text}, as long as their last rows need. */
  texts: (string | undefined)[][] = [[], [], []]

  constructor(rows: number) {
    this.numbers = new Float64Array(rows * numberWidth)
    this.keys = new Array<string>(rows).fill('')
  }

  /** The same rows in a chunk with room for more. */
  widened(rows: number): RowChunk {
    const wide = new RowChunk(rows)
    wide.numbers.set(this.numbers)
    for (let at = 0; at < this.keys.length; at += 1) wide.keys[at] = this.keys[at]!
    wide.texts = this.texts
    return wide
  }
}

/**
 * The keys of one queue as numbered rows. There is no object per key: a million rows are a few
 * hundred arrays, which cost the garbage collector nothing.
 *
 * Rows are added in chunks, so that growing copies nothing but the links. Freed rows are used
 * again; the table keeps the size of its fullest hour.
 */
export class RowTable {
  readonly links: RowLinks = new RowLinks()
  readonly chunks: RowChunk[] = []
  /** Every row ever used is below this. */
  used: number = noRow + 1
  private capacity: number
  /** Whether any row ever had an item: most queues store none. */
  hasItems = false
  /** Whether any row ever had a text. */
  private hasTexts = false
  private free: number = noRow

  constructor(expectedRows: number) {
    const rows = Math.min(Math.max(expectedRows, firstChunkRows), chunkRows)
    this.capacity = 1 << Math.ceil(Math.log2(rows))
    this.chunks.push(new RowChunk(this.capacity))
    this.links.reserve(Math.max(this.capacity, expectedRows))
  }

  chunk(row: number): RowChunk {
    return this.chunks[row >>> chunkBits]!
  }

  keyAt(row: number): string {
    return this.chunks[row >>> chunkBits]!.keys[row & rowMask]!
  }

  /** Every key that has a row. */
  keys(): string[] {
    return this.chunks.flatMap((chunk) => chunk.keys.filter((key) => key !== ''))
  }

  /** A row for `key`; its columns have old values. */
  allocate(key: string): number {
    let row = this.free
    if (row !== noRow) {
      this.free = this.links.next(row)
    } else {
      row = this.used
      if (row === this.capacity) this.grow()
      this.used += 1
    }
    this.chunks[row >>> chunkBits]!.keys[row & rowMask] = key
    return row
  }

  /** A row without a key, for the head of a list. */
  allocateHead(): number {
    const row = this.allocate('')
    this.links.begin(row)
    return row
  }

  /** Frees a row and everything that it refers to. */
  release(row: number): void {
    const chunk = this.chunks[row >>> chunkBits]!
    const at = row & rowMask
    chunk.keys[at] = ''
    if (this.hasTexts) {
      for (const column of chunk.texts) if (at < column.length) column[at] = undefined
    }
    this.links.release(row, this.free)
    this.free = row
  }

  itemAt(row: number): string | undefined {
    return this.hasItems ? this.textAt(text.item, row) : undefined
  }

  setItem(row: number, item: string | undefined): void {
    if (item === undefined && !this.hasItems) return
    this.hasItems = true
    this.setText(text.item, row, item)
  }

  textAt(column: number, row: number): string | undefined {
    return this.chunk(row).texts[column]![row & rowMask]
  }

  setText(column: number, row: number, value: string | undefined): void {
    this.hasTexts = true
    const texts = this.chunk(row).texts[column]!
    // Without holes, which would make the array slower.
    while (texts.length < (row & rowMask)) texts.push(undefined)
    texts[row & rowMask] = value
  }

  private grow(): void {
    const [first] = this.chunks
    if (this.capacity < chunkRows) {
      this.capacity *= 2
      this.chunks[0] = first!.widened(this.capacity)
    } else {
      this.capacity += chunkRows
      this.chunks.push(new RowChunk(chunkRows))
    }
    const linked = this.links.capacity
    if (this.capacity > linked) this.links.reserve(Math.max(this.capacity, linked * 2))
  }
}
