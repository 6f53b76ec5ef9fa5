import ts from 'typescript'

/** A comment with its markers, or a text with its quotes, and the line it begins on. */
export interface Prose {
  readonly text: string
  readonly line: number
}

/** The comments of a TypeScript or JavaScript file. */
export function commentsOf(path: string, text: string): Prose[] {
  const tree = parse(path, text)
  const ends = new Map<number, number>()
  const take = (ranges: readonly ts.CommentRange[] | undefined): void => {
    for (const { pos, end } of ranges ?? []) ends.set(pos, end)
  }
  visitTokens(tree, (token) => {
    // The text of an element is not code: what looks like a comment there is shown on the page.
    if (token.kind === ts.SyntaxKind.JsxText) return
    take(ts.getLeadingCommentRanges(text, token.getFullStart()))
    if (!endsMarkup(token)) take(ts.getTrailingCommentRanges(text, token.getEnd()))
  })
  const found: { pos: number; end: number }[] = []
  for (const [pos, end] of [...ends].sort(([a], [b]) => a - b)) {
    const before = found.at(-1)
    // Comments with only a line break between them are one text.
    if (before !== undefined && text.slice(before.end, pos).trim() === '') before.end = end
    else found.push({ pos, end })
  }
  return found.map(({ pos, end }) => ({
    text: text.slice(pos, end),
    line: tree.getLineAndCharacterOfPosition(pos).line + 1,
  }))
}

const textKinds = new Set([
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.TemplateHead,
  ts.SyntaxKind.TemplateMiddle,
  ts.SyntaxKind.TemplateTail,
  ts.SyntaxKind.JsxText,
])

/** The texts of a TypeScript or JavaScript file that have several words, such as messages. */
export function messagesOf(path: string, text: string): Prose[] {
  const tree = parse(path, text)
  const messages: Prose[] = []
  visitTokens(tree, (token) => {
    if (!textKinds.has(token.kind) || !token.getText(tree).trim().includes(' ')) return
    const { line } = tree.getLineAndCharacterOfPosition(token.getStart(tree))
    messages.push({ text: token.getText(tree), line: line + 1 })
  })
  return messages
}

/** Whether the text of an element may follow a token. */
function endsMarkup({ parent }: ts.Node): boolean {
  return (
    ts.isJsxOpeningLikeElement(parent) ||
    ts.isJsxClosingElement(parent) ||
    ts.isJsxOpeningFragment(parent) ||
    ts.isJsxClosingFragment(parent) ||
    ts.isJsxExpression(parent)
  )
}

/** The names that a file exports, those of types included. */
export function exportsOf(path: string, text: string): string[] {
  const names: string[] = []
  for (const statement of parse(path, text).statements) {
    if (ts.isExportDeclaration(statement)) {
      const clause = statement.exportClause
      if (clause !== undefined && ts.isNamedExports(clause)) {
        names.push(...clause.elements.map(({ name }) => name.text))
      }
    } else if (isExported(statement)) names.push(...declaredNames(statement))
  }
  return [...new Set(names)]
}

/** How many arguments the calls of a function have that is named so, such as `vi.waitFor`. */
export function callsOf(
  name: string,
  path: string,
  text: string,
): { args: number; line: number }[] {
  const tree = parse(path, text)
  const calls: { args: number; line: number }[] = []
  const walk = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText(tree) === name) {
      const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree))
      calls.push({ args: node.arguments.length, line: line + 1 })
    }
    ts.forEachChild(node, walk)
  }
  walk(tree)
  return calls
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
}

function declaredNames(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText())
  }
  const { name } = statement as ts.DeclarationStatement
  return name === undefined ? [] : [name.getText()]
}

function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
}

function visitTokens(tree: ts.SourceFile, visit: (token: ts.Node) => void): void {
  const walk = (node: ts.Node): void => {
    const children = node.getChildren(tree).filter(({ kind }) => !isDocumentation(kind))
    if (children.length === 0) {
      if (node.getWidth(tree) > 0 || node.kind === ts.SyntaxKind.EndOfFileToken) visit(node)
    } else for (const child of children) walk(child)
  }
  walk(tree)
}

function isDocumentation(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstJSDocNode && kind <= ts.SyntaxKind.LastJSDocNode
}
