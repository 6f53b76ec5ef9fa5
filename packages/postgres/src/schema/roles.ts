import { checkObject, SluiceRangeError } from '@sluice/core'
import { publicSignatures } from './public-functions.ts'
import { checkSchemaName, quoteIdentifier } from './schema-name.ts'

/** The roles that use a store. */
export interface Roles {
  readonly schema?: string | undefined
  /** Owns the schema, and migrates it. */
  readonly owner: string
  /** For programs. It can do all that queues need, and nothing else. */
  readonly runtime: string
  /** For dashboards. It only reads. */
  readonly readOnly: string
  /**
   * May add keys by the SQL functions, and do nothing else: not even read them. For programs that only
   * add, and for roles that write to tables with triggers. Optional.
   */
  readonly producer?: string | undefined
}

/**
 * The SQL that gives roles what they need; the roles themselves exist. To be run by the owner of the
 * schema after each migration that adds tables or public functions. The driver's functions have the
 * rights of the role that calls them, so the rights on tables and sequences decide what a role can do;
 * functions that a later version installs need no further grant. The public functions have the rights
 * of their owner, and only roles with a grant may call them.
 */
export function rolesSql(roles: Roles): string {
  checkObject('roles', roles, ['schema', 'owner', 'runtime', 'readOnly', 'producer'])
  const plainSchema = checkSchemaName(roles.schema ?? 'sluice')
  const schema = quoteIdentifier(plainSchema)
  const named = (role: 'owner' | 'runtime' | 'readOnly' | 'producer'): string => {
    const name = roles[role]
    if (typeof name !== 'string' || name === '' || name.includes('\0')) {
      throw new SluiceRangeError(role, 'must be the name of a role')
    }
    return quoteIdentifier(name)
  }
  const [owner, runtime, readOnly] = [named('owner'), named('runtime'), named('readOnly')]
  const publics = publicSignatures(plainSchema, 'all').join(', ')
  const producer = roles.producer === undefined ? undefined : named('producer')
  const producing =
    producer === undefined
      ? ''
      : `grant usage on schema ${schema} to ${producer};
grant execute on function ${publicSignatures(plainSchema, 'adding').join(', ')} to ${producer};
`
  return `begin;
revoke all on schema ${schema} from public;
grant usage, create on schema ${schema} to ${owner};
grant usage on schema ${schema} to ${runtime}, ${readOnly};
grant select on all tables in schema ${schema} to ${runtime}, ${readOnly};
grant insert, update, delete on ${schema}.keys, ${schema}.queues, ${schema}.buckets, ${schema}.workers, ${schema}.history, ${schema}.failed_runs to ${runtime};
grant usage, update on all sequences in schema ${schema} to ${runtime};
grant select on all sequences in schema ${schema} to ${readOnly};
grant execute on all functions in schema ${schema} to ${owner}, ${runtime}, ${readOnly};
revoke execute on function ${publics} from ${readOnly};
alter default privileges for role ${owner} in schema ${schema} grant execute on functions to ${runtime}, ${readOnly};
${producing}commit;
`
}
