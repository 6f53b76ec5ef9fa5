import type { Terminal } from '../terminal.ts'
import { isPlain, safeJson, shown } from './escape.ts'
import { type Colour, type Paint, paintFor } from './paint.ts'
import { type Column, Table } from './table.ts'
import { toYaml } from './yaml.ts'

/** The output formats. */
export const formats = ['table', 'wide', 'json', 'yaml', 'name'] as const

/** One of the {@link formats}. */
export type Format = (typeof formats)[number]

/** Options of a printer. */
export interface PrinterOptions {
  readonly format: Format
  readonly headers: boolean
  readonly colours: boolean
}

/** Rows to print, in any of the formats. */
export interface Listing<Row> {
  readonly rows: readonly Row[]
  readonly columns: (paint: Paint) => readonly Column<Row>[]
  /** The name of a row, for `-o name`. */
  readonly name: (row: Row) => string
  /** The whole listing as a document. */
  readonly document: () => unknown
  /** The note if there are no rows: `no keys in orders`. */
  readonly none: string
}

/** Prints data on stdout, and everything else on stderr. */
export class Printer {
  readonly format: Format
  readonly paint: Paint
  readonly #terminal: Terminal
  readonly #options: PrinterOptions
  readonly #paintError: Paint
  #isProgressShown = false

  constructor(terminal: Terminal, options: PrinterOptions) {
    this.#terminal = terminal
    this.#options = options
    this.format = options.format
    this.paint = paintFor(terminal.stdout, terminal, options.colours)
    this.#paintError = paintFor(terminal.stderr, terminal, options.colours)
  }

  /** Whether the format is a document. */
  get isDocument(): boolean {
    return this.format === 'json' || this.format === 'yaml'
  }

  /** Writes data unchanged. */
  async data(text: string): Promise<void> {
    await this.#terminal.stdout.write(text)
  }

  /** Writes lines of data. */
  async lines(lines: readonly string[]): Promise<void> {
    if (lines.length > 0) await this.data(`${lines.join('\n')}\n`)
  }

  /** Writes a document in the chosen format. */
  async document(value: unknown): Promise<void> {
    await this.data(this.format === 'yaml' ? toYaml(value) : `${safeJson(value, 2)}\n`)
  }

  /** A table whose columns keep their widths. */
  table<Row>(columns: (paint: Paint) => readonly Column<Row>[]): Table<Row> {
    const { format, headers } = this.#options
    return new Table(columns(this.paint), { wide: format === 'wide', headers })
  }

  /** Writes rows in the chosen format. */
  async listing<Row>(listing: Listing<Row>): Promise<void> {
    const { rows } = listing
    if (this.isDocument) return await this.document(listing.document())
    if (rows.length === 0) return await this.note(listing.none)
    if (this.format === 'name') return await this.names(rows.map(listing.name))
    await this.lines(this.table(listing.columns).lines(rows))
  }

  /** Writes names, one per line. */
  async names(names: readonly string[]): Promise<void> {
    await this.lines(names.map(shown))
    const odd = names.filter((name) => !isPlain(name)).length
    if (odd > 0)
      await this.note(`${odd} shown as JSON strings, since they contain special characters`)
  }

  /** Writes a note to stderr. */
  async note(text: string): Promise<void> {
    await this.#clearProgress()
    await this.#terminal.stderr.write(`${text}\n`)
  }

  /** Writes a warning to stderr. */
  async warn(text: string): Promise<void> {
    await this.note(`${this.#paintError('yellow', 'warning:')} ${text}`)
  }

  /** Shows progress on a terminal, replacing the last progress; does nothing elsewhere. */
  async progress(text: string): Promise<void> {
    const { stderr } = this.#terminal
    if (!stderr.isTTY) return
    this.#isProgressShown = true
    await stderr.write(`\r${text}\u001b[K`)
  }

  /** Clears the progress. */
  async endProgress(): Promise<void> {
    await this.#clearProgress()
  }

  async #clearProgress(): Promise<void> {
    if (!this.#isProgressShown) return
    this.#isProgressShown = false
    await this.#terminal.stderr.write('\r\u001b[K')
  }

  /** A text for stderr in a colour. */
  errorText(colour: Colour, text: string): string {
    return this.#paintError(colour, text)
  }
}
