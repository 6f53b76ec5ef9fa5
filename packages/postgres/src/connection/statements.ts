import { inSchema } from '../schema/schema-name.ts'
import { statementTexts } from '../statements.generated.ts'

/** A statement with fixed text, which a connection may prepare under its name, unless that is ''. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** The name of a statement of ours. */
export type StatementName = keyof typeof statementTexts

/** All statements, for one schema. */
export type Statements = Readonly<Record<StatementName, Statement>>

/**
 * The statements for a schema. Their names contain its channel's, because one connection may serve
 * two schemas; and the text's length, so that two versions of this package do not meet under one.
 */
export function statementsFor(schema: string, channel: string): Statements {
  const made = Object.entries(statementTexts).map(([name, raw]) => {
    const text = inSchema(raw, schema)
    return [name, { name: `${channel.slice(0, 19)}_${name}_${text.length}`, text }]
  })
  return Object.fromEntries(made) as Statements
}
