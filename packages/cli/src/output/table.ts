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
const nothing = '<none>'

/** The characters of a text as a reader sees them, one by one: the text may be long. */
function* charactersOf(text: string): Generator<string> {
  for (const { segment } of new Intl.Segmenter().segment(text)) yield segment
}

/** As many of the first characters as have room in a number of terminal columns. */
function fitting(characters: Iterable<string>, columns: number): string[] {
  const fit: string[] = []
  let width = 0
  for (const character of characters) {
    width += stringWidth(character)
    if (width > columns) break
    fit.push(character)
  }
  return fit
}

/** Truncates a text to a number of terminal columns, with an ellipsis. */
export function cutTo(text: string, columns: number): string {
  if (fitting(charactersOf(text), columns).join('') === text) return text
  return `${fitting(charactersOf(text), columns - 1).join('')}…`
}

/** Truncates a name in its middle: its end often tells it from others. */
export function cutMiddle(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text
  const characters = [...charactersOf(text)]
  const headMax = Math.ceil((columns - 1) / 2)
  const head = fitting(characters, headMax)
  const tail = fitting(characters.toReversed(), columns - 1 - headMax)
  return `${head.join('')}…${tail.toReversed().join('')}`
}

/** Folds a text into lines of at most so many terminal columns, at spaces; the last one is cut. */
export function folded(text: string, columns: number, linesMax: number): string[] {
  if (linesMax <= 1 || stringWidth(text) <= columns) return [cutTo(text, columns)]
  const head = fitting(charactersOf(text), columns + 1).join('')
  const space = head.lastIndexOf(' ')
  if (space <= 0) return [cutTo(text, columns)]
  return [text.slice(0, space), ...folded(text.slice(space + 1), columns, linesMax - 1)]
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
