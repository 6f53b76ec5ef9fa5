import ts from 'typescript'

export interface Import {
  readonly specifier: string
  readonly line: number
}

/** Every module a file names: imports, re-exports, `import()`, and files it starts by URL. */
export function importsOf(path: string, text: string): Import[] {
  const found: Import[] = []
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false)

  const take = (literal: ts.Node | undefined, isFile = false): void => {
    if (literal === undefined || !ts.isStringLiteralLike(literal)) return
    const { line } = tree.getLineAndCharacterOfPosition(literal.getStart(tree))
    // A URL beside this file is relative, with or without a dot in front.
    const specifier = isFile && !/^[./]/.test(literal.text) ? `./${literal.text}` : literal.text
    found.push({ specifier, line: line + 1 })
  }

  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) take(node.moduleSpecifier)
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      take(node.argument.literal)
    } else if (ts.isCallExpression(node) && namesModule(node.expression)) take(node.arguments[0])
    else if (ts.isNewExpression(node) && isUrlBesideThisFile(node)) {
      take(node.arguments?.[0], true)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function namesModule(callee: ts.Expression): boolean {
  if (callee.kind === ts.SyntaxKind.ImportKeyword) return true
  // import.meta.resolve('…')
  return (
    ts.isPropertyAccessExpression(callee) &&
    callee.name.text === 'resolve' &&
    isMeta(callee.expression)
  )
}

// new URL('./worker.ts', import.meta.url)
function isUrlBesideThisFile(node: ts.NewExpression): boolean {
  const [file, base] = node.arguments ?? []
  return (
    ts.isIdentifier(node.expression) &&
    node.expression.text === 'URL' &&
    base !== undefined &&
    ts.isPropertyAccessExpression(base) &&
    isMeta(base.expression) &&
    file !== undefined &&
    ts.isStringLiteralLike(file) &&
    /\.(ts|mjs|js)$/.test(file.text)
  )
}

function isMeta(node: ts.Node): boolean {
  return ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword
}
