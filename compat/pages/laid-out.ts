import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { fencesOf } from '../../tools/doctest/src/fence.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Our packages, as a program beside these libraries finds them. */
const packages = {
  sluice: 'queue',
  '@sluice/dashboard': 'dashboard',
  '@sluice/postgres': 'postgres',
  '@sluice/redis': 'redis',
  '@sluice/sqlite': 'sqlite',
}

/** The programs of a page, each under the name that its first line gives: `// server.ts`. */
export interface LaidOut {
  readonly folder: string
  readonly files: readonly string[]
  remove(): void
}

/** Writes the fences of a page that are marked `compat` into a new folder beside the libraries. */
export function layOutPage(path: string): LaidOut {
  const cache = join(root, 'compat', '.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, `${path.replaceAll(/[^a-z]+/gi, '-')}-`))
  const files: string[] = []
  for (const fence of fencesOf(path, readFileSync(root + path, 'utf8'))) {
    if (!fence.isCompat) continue
    const name = /^\/\/ (\S+\.ts)\n/.exec(fence.code)?.[1]
    if (name === undefined) throw new Error(`${path}:${fence.line}: the first line is no file name`)
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${fence.setup}\n${fence.code}\n`)
    files.push(name)
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }\n')
  for (const [name, source] of Object.entries(packages)) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'packages', source), link)
  }
  return { folder, files, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** What the packages above are made of. */
const inner = ['core', 'limiters', 'backoff', 'memory']

/** Puts the built packages in the place of the links, as npm would: a bundler follows links. */
export function installBuilt({ folder }: LaidOut): void {
  const all = [...Object.entries(packages), ...inner.map((name) => [`@sluice/${name}`, name])]
  for (const [name = '', source = ''] of all) {
    const target = join(folder, 'node_modules', name)
    rmSync(target, { recursive: true, force: true })
    for (const part of ['package.json', 'dist']) {
      cpSync(join(root, 'packages', source, part), join(target, part), { recursive: true })
    }
  }
  const library = join('node_modules', 'better-sqlite3')
  symlinkSync(join(root, 'packages', 'sqlite', library), join(folder, library))
}

const decorated: ts.CompilerOptions = { experimentalDecorators: true, emitDecoratorMetadata: true }

/** As most applications are compiled. */
const bundled: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
}

/** What the compiler says about the programs, with the declarations of the real libraries. */
export function complaintsAbout({ folder, files }: LaidOut): string[] {
  const config = join(root, 'compat', 'tsconfig.json')
  const read = ts.getParsedCommandLineOfConfigFile(
    config,
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
        throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'))
      },
    },
  )
  const program = ts.createProgram(
    files.map((file) => join(folder, file)),
    {
      ...{ ...read?.options, ...decorated, ...bundled },
      ...{ noEmit: true, isolatedDeclarations: false, declaration: false },
    },
  )
  return files.flatMap((file) => {
    const source = program.getSourceFile(join(folder, file))
    return [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ].map(({ messageText }) => `${file}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)
  })
}

/** Writes a program as JavaScript beside it, for what Node cannot strip, and returns its path. */
export function compiled({ folder }: LaidOut, file: string): string {
  const { outputText } = ts.transpileModule(readFileSync(join(folder, file), 'utf8'), {
    compilerOptions: {
      ...decorated,
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
    },
  })
  const path = join(folder, file.replace(/\.ts$/, '.mjs'))
  writeFileSync(path, outputText)
  return path
}
