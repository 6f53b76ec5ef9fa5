import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { posix } from 'node:path'

/** Files by their path from the root, as the rules see them: a real checkout or a made-up one. */
export type Repository = ReadonlyMap<string, string>

export interface Manifest {
  name: string
  version?: string
  private?: boolean
  type?: string
  license?: string
  author?: string
  homepage?: string
  repository?: Record<string, string>
  bugs?: string
  sideEffects?: boolean
  engines?: Record<string, string>
  files?: string[]
  exports?: Record<string, string | Record<string, string>>
  /** What a package calls parts of itself, by condition. */
  imports?: Record<string, unknown>
  bin?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

export interface Package {
  readonly folder: string
  readonly manifest: Manifest
}

const binary = /\.(png|gif|jpe?g|webp|ico|woff2?|tgz|db|zip)$/

/** Everything git tracks here, and everything it would track if it were asked to. */
export function readRepository(root: string): Repository {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const files = new Map<string, string>()
  for (const path of listed.split('\0')) {
    const full = posix.join(root, path)
    // A tracked file may have just been deleted, and a file may go while others work here.
    if (path === '' || binary.test(path) || !existsSync(full) || !statSync(full).isFile()) continue
    files.set(path, readFileSync(full, 'utf8'))
  }
  return files
}

export function packagesOf(repository: Repository): Package[] {
  const packages: Package[] = []
  for (const [path, text] of repository) {
    if (posix.basename(path) !== 'package.json' || path === 'package.json') continue
    if (path.startsWith('tools/lint/fixture/')) continue
    packages.push({ folder: posix.dirname(path), manifest: JSON.parse(text) as Manifest })
  }
  return packages
}

export function packageOf(path: string, packages: readonly Package[]): Package | undefined {
  return packages.find(({ folder }) => path.startsWith(`${folder}/`))
}

/** A hand-written source file of a package, or of the page inside of one. */
export function isSource(path: string): boolean {
  return (
    /^(packages|apps|tools)\/[^/]+\/(client\/)?src\/.*\.tsx?$/.test(path) &&
    !/\.(generated|d)\.ts$/.test(path)
  )
}

export function isTest(path: string): boolean {
  return /(^|\/)(test|tests|support)\//.test(path) && /\.(ts|mjs|js)$/.test(path)
}
