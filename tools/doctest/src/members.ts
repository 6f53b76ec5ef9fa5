import ts from 'typescript'

/** The names that a declaration has: the members of an interface, or the words of a union of them. */
export function membersOf(text: string, declaration: string): string[] {
  const source = ts.createSourceFile(`${declaration}.ts`, text, ts.ScriptTarget.Latest, true)
  for (const statement of source.statements) {
    if (ts.isInterfaceDeclaration(statement) && statement.name.text === declaration) {
      return [...new Set(statement.members.flatMap(({ name }) => nameOf(name)))]
    }
    if (ts.isTypeAliasDeclaration(statement) && statement.name.text === declaration) {
      const { type } = statement
      return (ts.isUnionTypeNode(type) ? [...type.types] : [type]).flatMap((each) =>
        ts.isLiteralTypeNode(each) && ts.isStringLiteral(each.literal) ? [each.literal.text] : [],
      )
    }
  }
  throw new Error(`there is no ${declaration}`)
}

function nameOf(name: ts.PropertyName | undefined): string[] {
  return name !== undefined && (ts.isIdentifier(name) || ts.isStringLiteral(name))
    ? [name.text]
    : []
}

/** The words in code font in the first cells of the tables below a heading. */
export function tableWords(page: string, heading: string): string[] {
  const lines = page.split('\n')
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading)
  if (start === -1) throw new Error(`there is no heading "${heading}"`)
  const below = lines.slice(start + 1)
  const end = below.findIndex((line) => /^#+ /.test(line))
  return below
    .slice(0, end === -1 ? undefined : end)
    .flatMap((line) => [...(/^\| ([^|]*)/.exec(line)?.[1] ?? '').matchAll(/`([^`]+)`/g)])
    .map(([, word = '']) => word)
}
