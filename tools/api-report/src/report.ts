import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** An entry point of a published package, and its source. */
export interface EntryPoint {
  readonly name: string
  readonly file: string
}

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

/** The entry points of the packages in a folder that can be imported as code. */
export function entryPointsIn(packages: string): readonly EntryPoint[] {
  return readdirSync(packages)
    .filter((folder) => existsSync(join(packages, folder, 'package.json')))
    .flatMap((folder) => {
      const path = join(packages, folder, 'package.json')
      const manifest: Manifest = JSON.parse(readFileSync(path, 'utf8'))
      if (manifest.private === true) return []
      return Object.entries(manifest.exports).flatMap(([subpath, target]) => {
        const source = typeof target === 'string' ? undefined : target['sluice-source']
        if (source === undefined) return []
        return [{ name: manifest.name + subpath.slice(1), file: join(packages, folder, source) }]
      })
    })
}

/** A program over the sources of all entry points, as the compiler checks them. */
export function programOf(entries: readonly EntryPoint[], config: string): ts.Program {
  const read = ts.getParsedCommandLineOfConfigFile(
    config,
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} },
  )
  return ts.createProgram(
    entries.map(({ file }) => file),
    { ...read?.options, declaration: true, emitDeclarationOnly: true, noEmit: false },
  )
}

/**
 * The declarations of everything that an entry point exports, sorted by name, without comments and
 * bodies. What another entry point declares is named with its file only.
 */
export function reportOf({ file }: EntryPoint, program: ts.Program): string {
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  if (module === undefined) throw new Error(`${file} is no module`)
  const lines = checker.getExportsOfModule(module).map((exported) => {
    const symbol =
      (exported.flags & ts.SymbolFlags.Alias) === 0 ? exported : checker.getAliasedSymbol(exported)
    const declared = (symbol.declarations ?? []).map((declaration) => shown(declaration, checker))
    return { name: exported.name, text: declared.join('\n') }
  })
  return lines
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, text }) => `// ${name}\n${text}\n`)
    .join('\n')
}

const printer = ts.createPrinter({ removeComments: true })

function shown(declaration: ts.Declaration, checker: ts.TypeChecker): string {
  const source = declaration.getSourceFile()
  const print = (node: ts.Node): string =>
    printer.printNode(ts.EmitHint.Unspecified, node, source).replace(/^export /, '')
  if (ts.isVariableDeclaration(declaration)) {
    const type = checker.getTypeAtLocation(declaration)
    const written = declaration.type ? print(declaration.type) : checker.typeToString(type)
    return `const ${declaration.name.getText()}: ${written}`
  }
  if (ts.isFunctionDeclaration(declaration)) {
    // Of an overloaded function, the implementation cannot be called.
    const name = declaration.name && checker.getSymbolAtLocation(declaration.name)
    const isOne = (name?.declarations?.length ?? 1) === 1
    if (declaration.body !== undefined && !isOne) return '// (implementation)'
    const { modifiers, asteriskToken, typeParameters, parameters, type } = declaration
    const kept = modifiers?.filter(({ kind }) => kind !== ts.SyntaxKind.AsyncKeyword)
    const bare = ts.factory.createFunctionDeclaration(
      kept,
      asteriskToken,
      declaration.name,
      typeParameters,
      parameters.map(withoutDefault),
      type,
      undefined,
    )
    return print(bare)
  }
  if (ts.isClassDeclaration(declaration)) return print(bareClass(declaration))
  if (ts.isSourceFile(declaration)) {
    const symbol = checker.getSymbolAtLocation(declaration)
    const names = symbol === undefined ? [] : checker.getExportsOfModule(symbol)
    return `namespace { ${names
      .map(({ name }) => name)
      .sort()
      .join(', ')} }`
  }
  return print(declaration)
}

function withoutDefault(parameter: ts.ParameterDeclaration): ts.ParameterDeclaration {
  if (parameter.initializer === undefined) return parameter
  const { modifiers, dotDotDotToken, name, type } = parameter
  const optional = ts.factory.createToken(ts.SyntaxKind.QuestionToken)
  return ts.factory.createParameterDeclaration(modifiers, dotDotDotToken, name, optional, type)
}

/** A class as its users see it: neither bodies nor what is private. */
function bareClass(declaration: ts.ClassDeclaration): ts.ClassDeclaration {
  const { modifiers, name, typeParameters, heritageClauses } = declaration
  const members = declaration.members.flatMap((member): readonly ts.ClassElement[] => {
    const isHidden =
      (member.name !== undefined && ts.isPrivateIdentifier(member.name)) ||
      (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private) !== 0 ||
      ts.isClassStaticBlockDeclaration(member)
    if (isHidden) return []
    const kept = ts.canHaveModifiers(member)
      ? ts.getModifiers(member)?.filter(({ kind }) => kind !== ts.SyntaxKind.AsyncKeyword)
      : undefined
    if (ts.isMethodDeclaration(member)) {
      const { asteriskToken, questionToken, parameters, type } = member
      return [
        ts.factory.createMethodDeclaration(
          kept,
          asteriskToken,
          member.name,
          questionToken,
          member.typeParameters,
          parameters.map(withoutDefault),
          type,
          undefined,
        ),
      ]
    }
    if (ts.isConstructorDeclaration(member)) {
      const parameters = member.parameters.map(withoutDefault)
      return [ts.factory.createConstructorDeclaration(kept, parameters, undefined)]
    }
    if (ts.isGetAccessorDeclaration(member)) {
      const { parameters, type } = member
      return [
        ts.factory.createGetAccessorDeclaration(kept, member.name, parameters, type, undefined),
      ]
    }
    if (ts.isPropertyDeclaration(member)) {
      const { questionToken, exclamationToken, type } = member
      return [
        ts.factory.createPropertyDeclaration(
          kept,
          member.name,
          questionToken ?? exclamationToken,
          type,
          undefined,
        ),
      ]
    }
    return [member]
  })
  return ts.factory.createClassDeclaration(
    modifiers,
    name,
    typeParameters,
    heritageClauses,
    members,
  )
}
