import { SluiceTypeError } from '@sluice/core'
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
  if (!isLate(answer)) return answer
  return await inTime(Promise.resolve(answer), ms, 'check an item', 'the schema')
}

/** Whether a validator answers later, by a promise of any kind. */
export function isLate<T>(answer: T | Promise<T>): answer is Promise<T> {
  return typeof (answer as Partial<Promise<T>> | undefined)?.then === 'function'
}

/** The item as a validator answers it; throws what it says against the item, called `name`. */
export function accepted<T>(answer: SchemaResult<T>, name = 'item'): T {
  const { issues, value } = Object(answer) as { issues?: readonly SchemaIssue[]; value?: T }
  if (issues) {
    const { message, path = [] } = issues[0] ?? {}
    const where = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
    const text = ['must match the schema', where, message].filter(Boolean).join(': ')
    throw new SluiceTypeError(name, text)
  }
  if (value === undefined) {
    throw new SluiceTypeError('schema', 'must return value or issues')
  }
  return value
}
