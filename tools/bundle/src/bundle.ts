import { basename, isAbsolute } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build } from 'esbuild'

/** A program bundled as by the users of the packages. */
export interface Bundle {
  readonly code: string
  /** Compressed as a web server does it. */
  readonly gzipBytes: number
  /** The files that something is left of. */
  readonly files: readonly string[]
}

/** What stands in bundles for browsers where a program uses a name that only Node has. */
export const substitute = 'substitute_of_the_bundler'

function optionsFor(program: string, platform: 'browser' | 'node') {
  return {
    stdin: { contents: program, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false as const,
    metafile: true as const,
    format: 'esm',
    platform,
    target: 'es2023',
    // Some bundlers for browsers bring large substitutes where a program has these names.
    define: platform === 'browser' ? { Buffer: substitute, process: substitute } : {},
    conditions: ['sluice-source'],
    logLevel: 'silent',
    plugins: [
      {
        name: 'only ours',
        setup: ({ onResolve }) => {
          // In a browser, a module of Node stays an error.
          onResolve({ filter: /^[^.#]/ }, ({ path, kind }) => {
            const isOurs =
              kind === 'entry-point' || isAbsolute(path) || /^(sluice|@sluice)(\/|$)/.test(path)
            if (isOurs || (platform === 'browser' && path.startsWith('node:'))) return undefined
            return { path, external: true }
          })
        },
      },
    ],
  } satisfies BuildOptions
}

const zipped = (contents: Uint8Array): number => gzipSync(contents, { level: 9 }).length

/** Bundles a program for a browser, or for Node, into one file. Only our packages are part of it. */
export async function bundle(program: string, platform: 'browser' | 'node'): Promise<Bundle> {
  const { outputFiles, metafile } = await build(optionsFor(program, platform))
  const [file] = outputFiles
  if (file === undefined) throw new Error('esbuild wrote no file')
  return {
    code: file.text,
    gzipBytes: zipped(file.contents),
    files: Object.values(metafile.outputs).flatMap(({ inputs }) =>
      Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0),
    ),
  }
}

/** A program bundled for Node into one file of CommonJS, which has no `import.meta.url`. */
export async function bundleCommonJs(program: string): Promise<string> {
  const { outputFiles } = await build({ ...optionsFor(program, 'node'), format: 'cjs' })
  return outputFiles.map(({ text }) => text).join('')
}

/** A program in files for a browser, which fetches some of them only when it needs them. */
export interface SplitBundle {
  /** The name of the first file, which imports the others. */
  readonly main: string
  readonly code: ReadonlyMap<string, string>
  /** The files that are fetched at first, and what they take compressed. */
  readonly first: readonly string[]
  readonly firstGzipBytes: number
  /** The files that something is left of in the files that are fetched at first. */
  readonly firstSources: readonly string[]
}

/** Bundles a program for a browser as {@link bundle} does, split where it calls `import()`. */
export async function bundleSplit(program: string): Promise<SplitBundle> {
  const options = { ...optionsFor(program, 'browser'), splitting: true, outdir: '/' }
  const { outputFiles, metafile } = await build(options)
  const contents = new Map(outputFiles.map((file) => [basename(file.path), file]))
  const outputs = new Map(
    Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]),
  )
  const main = 'stdin.js'
  const first = new Set([main])
  for (const name of first) {
    for (const { kind, path } of outputs.get(name)?.imports ?? []) {
      if (kind === 'import-statement') first.add(basename(path))
    }
  }
  const sum = (sizes: number[]): number => sizes.reduce((total, size) => total + size, 0)
  return {
    main,
    code: new Map([...contents].map(([name, { text }]) => [name, text])),
    first: [...first],
    firstGzipBytes: sum(
      [...first].map((name) => zipped(contents.get(name)?.contents ?? new Uint8Array())),
    ),
    firstSources: [...first].flatMap((name) => {
      const inputs = outputs.get(name)?.inputs ?? {}
      return Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0)
    }),
  }
}
