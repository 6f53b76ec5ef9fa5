// The tables are read with the package, so that no driver waits for them; in a browser
// `browser/load-tables.ts` stands in for this module.
import * as tables from './tables.ts'

export { tables }

/** Gets the tables; `undefined` if they are there. */
export function loadTables(): Promise<void> | undefined {
  return undefined
}
