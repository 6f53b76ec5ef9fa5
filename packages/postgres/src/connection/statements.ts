import { createHash } from 'node:crypto'
import { inSchema } from '../schema/schema-name.ts'
import { statementTexts } from '../statements.generated.ts'

/** A statement with fixed text, which a connection may prepare under its name, unless that is ''. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** The name of a statement in `sql/statements`. */
export type StatementName = keyof typeof statementTexts

/** All statements, for one schema. */
export type Statements = Readonly<Record<StatementName, Statement>>

/**
 * The statements for a schema. Their names contain its channel's, because one connection may serve
 * two schemas; and a hash of the text, because it may serve two versions of this package.
 */
export function statementsFor(schema: string, channel: string): Statements {
  const made = Object.entries(statementTexts).map(([name, text]) => {
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
    const prepared = `${channel.slice(0, 19)}_${name}_${hash}`
    return [name, { name: prepared, text: inSchema(text, schema) }]
  })
  return Object.fromEntries(made) as Statements
}
