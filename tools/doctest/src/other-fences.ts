/** A fence of a language other than TypeScript. */
export interface OtherFence {
  readonly path: string
  /** The line of its first line of code, counted from 1. */
  readonly line: number
  readonly language: string
  /** What kind of file it is, where the language alone does not say it: `yaml kubernetes`. */
  readonly kind: string | undefined
  readonly code: string
}

const opening = /^(?<indent>\s*)(?<marks>```+)(?<language>[a-z]+)(?: (?<kind>[a-z]+))?$/

/** The fences of a page that are not TypeScript. */
export function otherFences(path: string, text: string): OtherFence[] {
  const lines = text.split('\n')
  const fences: OtherFence[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const start = opening.exec(lines[at] ?? '')?.groups
    if (start === undefined) continue
    const { indent = '', marks = '', language = '', kind } = start
    const end = lines.findIndex((line, index) => index > at && line.trim() === marks)
    if (end === -1) throw new Error(`${path}:${at + 1}: this fence is never closed`)
    if (language !== 'ts') {
      const code = lines.slice(at + 1, end).map((line) => line.slice(indent.length))
      fences.push({ path, line: at + 2, language, kind, code: `${code.join('\n')}\n` })
    }
    at = end
  }
  return fences
}
