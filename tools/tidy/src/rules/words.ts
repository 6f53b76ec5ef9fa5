import { posix } from 'node:path'
import type { Repository } from '../repository.ts'
import { commentsOf, messagesOf, type Prose } from '../source-text.ts'

/** Words that a reader stumbles over, each with what to write instead. */
const instead: Readonly<Record<string, string>> = {
  owed: 'pending',
  'mend(?:s|ed|ing)?': 'fix',
  anew: 'again',
  whoever: 'the client, the caller, the holder',
  somebody: 'a user, another worker, a concurrent call',
  anybody: 'any caller, any process',
  'told of': 'called with, notified of',
  'tells? of': 'reports',
  'hears? of': 'is notified of, sees',
  'by itself': 'automatically, alone',
  'by themselves': 'automatically, alone',
  'at the most': 'at most',
  moot: 'a no-op',
}

/** What may stand between two words: spaces, and the beginning of the next line of a comment. */
const gap = '\\s+(?:(?://|\\*|--)\\s*)?'

const banned = Object.entries(instead).map(([word, better]) => ({
  word: new RegExp(`\\b(?:${word.replaceAll(' ', gap)})\\b`, 'gi'),
  better,
}))

/** Most files have none of the words, so that there is no need to parse them. */
const anyOfThem = new RegExp(banned.map(({ word }) => word.source).join('|'), 'i')

/** Files that quote the words. */
const quoting = new Set(['tools/tidy/src/rules/words.ts', 'tools/tidy/test/rules.test.ts'])

/** How a comment begins in the files whose comments end with the line. */
const commentsBegin: Readonly<Record<string, string>> = {
  '.sql': '--',
  '.lua': '--',
  '.yaml': '#',
  '.yml': '#',
  '.go': '//',
}

/** Titles of tests, cases and mutants: what stands in a report. */
const title =
  /(?:\b(?:test|describe|it)(?:\.\w+(?:\([^()]*\))?)*\(|\btitle:|[mM]utant\(\s*'[^']*',)\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g

/** Comments, titles, documents and the texts of sources use the words of the field. */
export function words(repository: Repository): string[] {
  const problems: string[] = []
  for (const [path, text] of repository) {
    if (quoting.has(path) || !anyOfThem.test(text)) continue
    for (const piece of prose(path, text)) {
      for (const { word, better } of banned) {
        for (const match of piece.text.matchAll(word)) {
          const line = piece.line + piece.text.slice(0, match.index).split('\n').length - 1
          problems.push(`${path}:${line}: "${match[0].replace(/\s+/g, ' ')}"; write: ${better}`)
        }
      }
    }
  }
  return problems
}

/** The parts of a file that are written for people. */
function prose(path: string, text: string): Prose[] {
  if (path.endsWith('.generated.ts')) return []
  if (/\.(tsx?|mts|mjs|js)$/.test(path)) {
    const messages = path.includes('/src/') ? messagesOf(path, text) : []
    return [...commentsOf(path, text), ...titlesOf(text), ...messages]
  }
  const comment = commentsBegin[posix.extname(path)]
  if (comment !== undefined) {
    return text.split('\n').flatMap((line, index) => {
      const at = line.indexOf(comment)
      return at === -1 ? [] : [{ text: line.slice(at), line: index + 1 }]
    })
  }
  if (path.endsWith('.md')) return [{ text: withoutCode(text), line: 1 }]
  return []
}

function titlesOf(text: string): Prose[] {
  return [...text.matchAll(title)].map((match) => {
    const end = match.index + match[0].length
    const start = end - 1 - (match[2] as string).length
    return { text: match[2] as string, line: text.slice(0, start).split('\n').length }
  })
}

/** Markdown with code blanked out, so that line numbers stay. */
function withoutCode(text: string): string {
  const blank = (code: string): string => code.replace(/[^\n]/g, ' ')
  return text.replace(/^( *)(```+|~~~+)[\s\S]*?^\1\2 *$/gm, blank).replace(/`[^`\n]*`/g, blank)
}
