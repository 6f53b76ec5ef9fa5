import type { Statements } from '../connection/statements.ts'

/** The number of a holder, given out when it first claims something. */
export function holderNumber(statements: Statements, name: string): number {
  // Not remembered between transactions: another process may have swept the row away.
  const row = statements.holdersFind.get(name) as { readonly id: number } | undefined
  if (row !== undefined) return row.id
  statements.holdersSweep.run()
  return Number(statements.holdersAdd.run(name).lastInsertRowid)
}

/** The names of holders by their numbers. */
export function holderNames(
  statements: Statements,
  numbers: ReadonlySet<number>,
): Map<number, string> {
  if (numbers.size === 0) return new Map()
  const rows = statements.holdersList.all(JSON.stringify([...numbers])) as {
    readonly id: number
    readonly name: string
  }[]
  return new Map(rows.map(({ id, name }) => [id, name]))
}
