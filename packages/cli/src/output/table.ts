import stringWidth from 'string-width'

/** One column of a table of `Row`s. */
export interface Column<Row> {
  readonly title: string
  /** Left out unless everything is asked for. */
  readonly wide?: boolean
  /** What a row has in it. Must be printable: see {@link shown}. */
  readonly text: (row: Row) => string
}

const gap = '   '

/** What a column without anything says. */
export const nothing = '<none>'

/** `text` cut to so many columns of a terminal, with a mark where something is missing. */
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
 * Sets rows in columns without lines between them, as `kubectl` does. Rows that are set later keep
 * to the columns of the first ones as far as they fit.
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

  /** The lines of some rows; the first ones come with a header. */
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
