import { checkObject, SluiceRangeError } from '@sluice/core'
import { checkSchemaName, quoteIdentifier } from './schema-name.ts'

/** The three roles that use a store. */
export interface Roles {
  readonly schema?: string
  /** Owns the schema, and migrates it. */
  readonly owner: string
  /** For programs. It can do all that queues need, and nothing else. */
  readonly runtime: string
  /** For dashboards. It only reads. */
  readonly readOnly: string
}

/**
 * The SQL that gives three roles what they need; the roles themselves exist. To be run by the owner
 * of the schema after each migration of tables. Functions have the rights of the role that calls
 * them, so the rights on tables and sequences decide what a role can do; functions that a later
 * version installs need no further grant.
 */
export function rolesSql(roles: Roles): string {
  checkObject('roles', roles, ['schema', 'owner', 'runtime', 'readOnly'])
  const schema = quoteIdentifier(checkSchemaName(roles.schema ?? 'sluice'))
  const names = (['owner', 'runtime', 'readOnly'] as const).map((role) => {
    const name = roles[role]
    if (typeof name !== 'string' || name === '' || name.includes('\0')) {
      throw new SluiceRangeError(role, 'must be the name of a role')
    }
    return quoteIdentifier(name)
  })
  const [owner, runtime, readOnly] = names
  return `begin;
revoke all on schema ${schema} from public;
grant usage, create on schema ${schema} to ${owner};
grant usage on schema ${schema} to ${runtime}, ${readOnly};
grant select on all tables in schema ${schema} to ${runtime}, ${readOnly};
grant insert, update, delete on ${schema}.keys, ${schema}.queues, ${schema}.buckets, ${schema}.workers to ${runtime};
grant usage, update on all sequences in schema ${schema} to ${runtime};
grant select on all sequences in schema ${schema} to ${readOnly};
grant execute on all functions in schema ${schema} to ${owner}, ${runtime}, ${readOnly};
alter default privileges for role ${owner} in schema ${schema} grant execute on functions to ${runtime}, ${readOnly};
commit;
`
}
