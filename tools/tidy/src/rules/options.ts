import { isSource, type Repository } from '../repository.ts'

/** An optional member of an exported interface of options, with its type if that is on one line. */
const member = /^ {2}(?:readonly )?(\w+)\?: (.+)$/

/**
 * Options take `undefined` as if they were absent, in their types too: with
 * `exactOptionalPropertyTypes`, users could not write `{ prefetch: isSlow ? 0 : undefined }` otherwise.
 */
export function options(repository: Repository): string[] {
  const problems: string[] = []
  for (const [path, text] of repository) {
    // A template becomes a package, which must pass as it is.
    const isPackage = isSource(path) && path.startsWith('packages/')
    if (!isPackage && !path.startsWith('templates/')) continue
    for (const [body, name] of text.matchAll(
      /^export interface (\w+Options)\b.*\{\n[\s\S]*?^\}/gm,
    )) {
      for (const line of body.split('\n')) {
        const [, option, type = ''] = member.exec(line) ?? []
        if (option === undefined || type.endsWith('| undefined') || type === 'undefined') continue
        problems.push(`${path}: ${name}.${option} does not take undefined: add \`| undefined\``)
      }
    }
  }
  return problems
}
