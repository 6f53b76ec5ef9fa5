import { isAbsolute } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** A program bundled as by the users of the packages. */
export interface Bundle {
  readonly code: string
  /** Compressed as a web server does it. */
  readonly gzipBytes: number
  /** The files that something is left of. */
  readonly files: readonly string[]
}

/** Bundles a program for a browser, or for Node, and minifies it. Only our packages are part of it. */
export async function bundle(program: string, platform: 'browser' | 'node'): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform,
    target: 'es2023',
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
  })
  const [file] = outputFiles
  if (file === undefined) throw new Error('esbuild wrote no file')
  return {
    code: file.text,
    gzipBytes: gzipSync(file.contents, { level: 9 }).length,
    files: Object.values(metafile.outputs).flatMap(({ inputs }) =>
      Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0),
    ),
  }
}
