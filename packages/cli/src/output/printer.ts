// This folder prints: formats, tables, colours, and texts that a terminal must not obey.

import type { SluiceError } from '@sluice/core'
import { CommandError, CommandErrors } from '../command-error.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'
import { isPlain, oneLine, safeJson, shown } from './escape.ts'
import { type Fields, fieldsOf, UnknownFields } from './fields.ts'
import { type ListDocument, textsOf } from './list-document.ts'
import { type Colour, type Paint, paintFor } from './paint.ts'
import { type Column, cutMiddle, Table } from './table.ts'
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
  /** The members that are printed instead of a table or a document. */
  readonly fields?: Fields | undefined
}

/** A queue that is damaged, or stored by a newer version, while others can be read. */
export interface UnreadQueue {
  readonly queue: string
  readonly error: SluiceError
}

/** Rows to print, in any of the formats. */
export interface Listing<Row> {
  readonly rows: readonly Row[]
  readonly columns: (paint: Paint) => readonly Column<Row>[]
  /** The name of a row, for `-o name`. */
  readonly name: (row: Row) => string
  /** What tells a row from all others while it is watched, where two may have one name. */
  readonly id?: (row: Row) => string
  /** The whole listing as a document. */
  readonly document: () => unknown
  /** The note if there are no rows: `no keys in orders`. */
  readonly none: string
  /** The queues whose rows are missing. */
  readonly unread?: readonly UnreadQueue[]
}

/** Prints data on stdout, and everything else on stderr. */
export class Printer {
  readonly format: Format
  readonly paint: Paint
  readonly #terminal: Terminal
  readonly #options: PrinterOptions
  readonly #paintError: Paint
  #isProgressShown = false
  #isOddNameNoted = false

  constructor(terminal: Terminal, options: PrinterOptions) {
    this.#terminal = terminal
    this.#options = options
    this.format = options.format
    this.paint = paintFor(terminal.stdout, terminal, options.colours)
    this.#paintError = paintFor(terminal.stderr, terminal, options.colours)
  }

  /** Whether a document is printed, or members of it. */
  get isDocument(): boolean {
    return this.fields !== undefined || this.format === 'json' || this.format === 'yaml'
  }

  /** The members that are printed instead of a document. */
  get fields(): Fields | undefined {
    return this.#options.fields
  }

  /** Writes data unchanged. Throws if it is lost, so that a backup on a full disk is no success. */
  async data(text: string): Promise<void> {
    const { stdout } = this.#terminal
    await stdout.write(text)
    const { failure } = stdout
    if (failure === undefined) return
    throw new CommandError(
      'ERR_FILE',
      `the output cannot be written: ${failure.message}`,
      exitCodes.failed,
      failure,
    )
  }

  /** Writes lines of data. */
  async lines(lines: readonly string[]): Promise<void> {
    if (lines.length > 0) await this.data(`${lines.join('\n')}\n`)
  }

  /** Writes a document in the chosen format. */
  async document(value: unknown): Promise<void> {
    if (this.fields !== undefined) return await this.#members([[value]], this.fields)
    await this.data(this.format === 'yaml' ? toYaml(value) : `${safeJson(value, 2)}\n`)
  }

  /** Writes a document with a long list, whose pages are written as they come. */
  async listDocument(document: ListDocument): Promise<void> {
    if (this.fields !== undefined) return await this.#members(document.pages, this.fields)
    for await (const text of textsOf(this.format === 'yaml', document)) await this.data(text)
  }

  /** Writes members of rows, a row on each line. */
  async #members(
    pages: AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>,
    fields: Fields,
  ): Promise<void> {
    const unknown = new UnknownFields(fields)
    for await (const rows of pages) {
      await this.lines(rows.map((row) => fieldsOf(row, fields)))
      for (const row of rows) unknown.look(row)
    }
    const first = unknown.first()
    if (first === undefined) return
    const { name, known } = first
    const others = known.length === 0 ? '' : `; there are ${known.map(oneLine).join(', ')}`
    await this.warn(`nothing has the member '${oneLine(name)}'${others}`)
  }

  /** A table whose columns keep their widths. */
  table<Row>(columns: (paint: Paint) => readonly Column<Row>[]): Table<Row> {
    const { format, headers } = this.#options
    return new Table(columns(this.paint), { wide: format === 'wide', headers })
  }

  /** Writes rows in the chosen format, and then throws the errors of unread queues. */
  async listing<Row>(listing: Listing<Row>): Promise<void> {
    await this.#rows(listing)
    const { unread = [] } = listing
    if (unread.length > 0) throw new CommandErrors(unread.map(({ error }) => error))
  }

  async #rows<Row>(listing: Listing<Row>): Promise<void> {
    const { rows } = listing
    if (this.isDocument) {
      const whole = listing.document()
      // The rows of a list, or the one object that the document is.
      const isList = Object.values(whole as object).includes(rows)
      if (isList && this.fields !== undefined) return await this.#members([rows], this.fields)
      return await this.document(whole)
    }
    if (rows.length === 0) return await this.note(listing.none)
    if (this.format === 'name') return await this.names(rows.map(listing.name))
    await this.lines(this.table(listing.columns).lines(rows))
  }

  /** Writes names, one per line. */
  async names(names: readonly string[]): Promise<void> {
    await this.lines(names.map(shown))
    if (this.#isOddNameNoted || names.every(isPlain)) return
    this.#isOddNameNoted = true
    await this.note('names with special characters are shown as JSON strings')
  }

  /** Writes a note to stderr. */
  async note(text: string): Promise<void> {
    await this.endProgress()
    await this.#terminal.stderr.write(`${text}\n`)
  }

  /** Writes a warning to stderr. */
  async warn(text: string): Promise<void> {
    await this.note(`${this.#paintError('yellow', 'warning:')} ${text}`)
  }

  /** Shows progress on a terminal, replacing the last progress; does nothing elsewhere. */
  async progress(text: string): Promise<void> {
    const { stderr, env } = this.#terminal
    if (!stderr.isTTY || env['TERM'] === 'dumb') return
    this.#isProgressShown = true
    // Of a text that fills the line or is longer, only the end could be replaced. Figures are at its end.
    const shortText = cutMiddle(text, (stderr.columns ?? Infinity) - 1)
    await stderr.write(`\r${shortText}\u001b[K`)
  }

  /** Clears the progress. */
  async endProgress(): Promise<void> {
    if (!this.#isProgressShown) return
    this.#isProgressShown = false
    await this.#terminal.stderr.write('\r\u001b[K')
  }

  /** A text for stderr in a colour. */
  errorText(colour: Colour, text: string): string {
    return this.#paintError(colour, text)
  }
}
