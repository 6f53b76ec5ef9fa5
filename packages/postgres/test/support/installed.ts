import { sqlFunctions } from '../../src/statements.generated.ts'

/** The name under which a function is installed. */
export function installed(plainName: string): string {
  const found = sqlFunctions.find(({ name }) => name.replace(/_[0-9a-f]{8}$/, '') === plainName)
  if (found === undefined) throw new Error(`there is no function ${plainName}`)
  return found.name
}
