import stringWidth from 'string-width'

/** One column of a table of `Row`s. */
export interface Column<Row> {
  readonly title: string
  /** Shown with `-o wide` only. */
  readonly wide?: boolean
  /** The text of a row. Must be printable: see {@link shown}. */
  readonly text: (row: Row) => string
}

const gap = '   '

/** The text of an empty cell. */
export const nothing = '<none>'

/** Truncates a text to a number of terminal columns, with an ellipsis. */
export function cutTo(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text
  let kept = ''
  let width = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += stringWidth(segment)
    if (width > columns - 1) break
    kept += segment
  }
  return `${kept}…`
}

/**
 * Aligns rows in columns without borders, as `kubectl` does. Later rows keep the widths of the first
 * ones as far as they fit.
 */
export class Table<Row> {
  readonly #columns: readonly Column<Row>[]
  #widths: number[]
  #isHeaderDue: boolean

  constructor(columns: readonly Column<Row>[], options: { wide: boolean; headers: boolean }) {
    this.#columns = columns.filter(({ wide }) => options.wide || wide !== true)
    this.#isHeaderDue = options.headers
    this.#widths = this.#columns.map(({ title }) => (options.headers ? stringWidth(title) : 0))
  }

  /** The lines of some rows, with a header before the first ones. */
  lines(rows: readonly Row[]): string[] {
    const cells = rows.map((row) => this.#columns.map(({ text }) => text(row) || nothing))
    for (const line of cells) {
      for (const [index, cell] of line.entries()) {
        this.#widths[index] = Math.max(this.#widths[index] ?? 0, stringWidth(cell))
      }
    }
    if (this.#isHeaderDue) cells.unshift(this.#columns.map(({ title }) => title))
    this.#isHeaderDue = false
    return cells.map((line) => this.#line(line))
  }

  #line(cells: readonly string[]): string {
    const last = cells.length - 1
    return cells
      .map((cell, index) => {
        if (index === last) return cell
        return cell + ' '.repeat(Math.max(0, (this.#widths[index] ?? 0) - stringWidth(cell)))
      })
      .join(gap)
      .trimEnd()
  }
}
