import { inTime } from '../environment/timing.ts'

/**
 * A validator: version 1 of Standard Schema, which the common validation libraries implement.
 */
export interface StandardSchema<T> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<T> | Promise<SchemaResult<T>>
    readonly types?: { readonly input: unknown; readonly output: T } | undefined
  }
}

/** The answer of a validator. */
export type SchemaResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** One defect of a value. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Validates an item; rejects with ERR_TIMEOUT if the schema does not answer within `ms`. */
export async function validate<T>(
  schema: StandardSchema<T>,
  item: unknown,
  ms: number,
): Promise<SchemaResult<T>> {
  const answer = schema['~standard'].validate(item)
  if ('issues' in answer || 'value' in answer) return answer
  return await inTime(Promise.resolve(answer), ms, 'check an item', 'the schema')
}

/** The first issue as one line: where, and what. */
export function issueText(issues: readonly SchemaIssue[]): string {
  const first = issues[0]
  if (first === undefined) return 'does not match the schema'
  const path = (first.path ?? [])
    .map((part) => String(typeof part === 'object' ? part.key : part))
    .join('.')
  return path === '' ? first.message : `${path}: ${first.message}`
}
