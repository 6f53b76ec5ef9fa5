/** A piece of TypeScript shown to readers, and what is promised about it. */
export interface Fence {
  readonly path: string
  /** The line of its first line of code, counted from 1. */
  readonly line: number
  readonly code: string
  /** Lines the reader does not see: `<!-- setup … -->` right before the fence. */
  readonly setup: string
  /** False when marked `no-run`: checked by the compiler, but not executed. */
  readonly runs: boolean
  /** Marked `ctrl-c`: it runs until Ctrl-C, which comes once its output is complete. */
  readonly isInterrupted: boolean
  /** Marked `compat`: it needs libraries that are installed in `compat/` only, where it is run. */
  readonly isCompat: boolean
}

const opening = /^(?<indent>\s*)(?<marks>```+)ts(?:\s+(?<flags>.*))?$/
const flagsKnown = new Set(['no-run', 'ctrl-c', 'compat'])

/** The ```` ```ts ```` fences of a page, or of the doc comments of a source file. */
export function fencesOf(path: string, text: string): Fence[] {
  const lines = path.endsWith('.ts') ? docCommentLines(text) : text.split('\n')
  const fences: Fence[] = []
  let hidden: string[] = []

  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (/^\s*<!-- setup$/.test(line)) {
      const end = lines.findIndex((other, index) => index > at && /^\s*-->$/.test(other))
      if (end === -1) throw new Error(`${path}:${at + 1}: this setup is never closed`)
      hidden = lines.slice(at + 1, end)
      at = end
      continue
    }
    const start = opening.exec(line)?.groups
    if (start === undefined) {
      if (line.trim() !== '') hidden = []
      if (/^\s*```+\S/.test(line)) at = closingOf(lines, at, path)
      continue
    }

    const { indent = '', flags = '' } = start
    const words = flags.split(/\s+/).filter((word) => word !== '')
    const unknown = words.find((word) => !flagsKnown.has(word))
    if (unknown !== undefined) throw new Error(`${path}:${at + 1}: what is "${unknown}"?`)

    const end = closingOf(lines, at, path)
    const code = lines
      .slice(at + 1, end)
      .map((inner) => inner.slice(Math.min(indent.length, inner.search(/\S|$/))))
    fences.push({
      path,
      line: at + 2,
      code: code.join('\n'),
      setup: hidden.join('\n'),
      runs: !words.includes('no-run'),
      isInterrupted: words.includes('ctrl-c'),
      isCompat: words.includes('compat'),
    })
    hidden = []
    at = end
  }
  return fences
}

function closingOf(lines: readonly string[], start: number, path: string): number {
  const marks = lines[start]?.match(/`{3,}/)?.[0] ?? '```'
  const end = lines.findIndex((line, index) => index > start && line.trim() === marks)
  if (end === -1) throw new Error(`${path}:${start + 1}: this fence is never closed`)
  return end
}

// Same number of lines as the file, so that a complaint names the right one; what is not in a doc
// comment is blank.
function docCommentLines(text: string): string[] {
  let inside = false
  return text.split('\n').map((line) => {
    if (/^\s*\/\*\*/.test(line)) inside = true
    const shown = inside ? (line.match(/^\s*\* ?(.*)$/)?.[1] ?? '') : ''
    if (line.includes('*/')) inside = false
    return shown.replace(/\*\/$/, '')
  })
}

/**
 * What `console.log(…) // => text` lines say will be printed, in their order. A line that prints more
 * than once has the rest in the comments below it: `// => more`.
 */
export function promisedOutput({ code }: Fence): string[] {
  return code.split('\n').flatMap((line) => {
    const promised = line.match(/(?:console\.log\(.*\/\/|^\s*\/\/)\s+=> (.*)$/)?.[1]
    return promised === undefined ? [] : [promised.trim()]
  })
}

/**
 * The fences that a reader copies first and that need lines which the page does not show: the first
 * one of a README must run exactly as it is printed.
 */
export function firstWithSetup(fences: readonly Fence[]): string[] {
  const paths = [...new Set(fences.map(({ path }) => path))]
  return paths
    .filter((path) => /(^|\/)README\.md$/.test(path))
    .map((path) => fences.find((fence) => fence.path === path))
    .filter((fence) => fence !== undefined && fence.setup !== '')
    .map((fence) => `${fence?.path}:${fence?.line}`)
}

/**
 * The fences with a `using` declaration, which Node 22 has not, and does not strip as it strips types: readers
 * run what they copy as it is.
 */
export function newerThanNode22(fences: readonly Fence[]): string[] {
  return fences
    .filter(({ path, code }) => path.endsWith('.md') && /^\s*(await )?using \w+ =/m.test(code))
    .map(({ path, line }) => `${path}:${line}`)
}

/**
 * The packages that the code of a page imports and its `npm install` lines leave out, if it has any: who follows it in
 * an empty folder has only those.
 */
export function notInstalled(path: string, text: string): string[] {
  const lines = [...text.matchAll(/^npm install ([^#\n]*)/gm)].map(([, names = '']) => names)
  if (lines.length === 0) return []
  const installed = new Set(lines.flatMap((names) => names.trim().split(/\s+/)))
  const imported = fencesOf(path, text).flatMap((fence) => packagesOf({ ...fence, setup: '' }))
  return [...new Set(imported)]
    .filter((name) => !name.startsWith('node:') && !installed.has(name))
    .map((name) => `${path}: ${name}`)
}

/** The packages a fence names. */
export function packagesOf({ code, setup }: Fence): string[] {
  const names = [...`${setup}\n${code}`.matchAll(/\b(?:from|import|import\()\s*'([^'.][^']*)'/g)]
  return names.map(([, name = '']) =>
    name
      .split('/')
      .slice(0, name.startsWith('@') ? 2 : 1)
      .join('/'),
  )
}
