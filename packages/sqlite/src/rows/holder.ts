import type { Statements } from '../connection/statements.ts'

/** The number of a holder, which it gets with its first claim. */
export function holderNumber(statements: Statements, name: string): number {
  // Not cached between transactions: another process may have deleted the row.
  const row = statements.holdersFind.get(name) as { readonly id: number } | undefined
  if (row !== undefined) return row.id
  const id = Number(statements.holdersAdd.run(name).lastInsertRowid)
  // A sweep reads every held key, which would be slow for each new holder.
  if (id % 1000 === 1) statements.holdersSweep.run()
  return id
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
