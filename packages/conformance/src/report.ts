import type { Capabilities } from '@sluice/core'
import type { Case, Subject } from './case.ts'
import { type CaseResult, type Verdict, whyNotAsked } from './run-cases.ts'

/** The results of one driver, to be printed or rendered. */
export interface Report {
  /** The name of the driver, or of the set-up. */
  readonly driver: string
  readonly capabilities: Capabilities
  readonly seed: number
  readonly results: readonly CaseResult[]
}

/** How many cases came to what. */
export type Tally = Readonly<Record<Verdict, number>>

/** Counts verdicts. */
export function tally(results: readonly CaseResult[]): Tally {
  const counts: Record<Verdict, number> = {
    passed: 0,
    failed: 0,
    skipped: 0,
    'not-asked': 0,
    excepted: 0,
  }
  for (const { verdict } of results) counts[verdict] += 1
  return counts
}

/** Groups results by promise, the first word of an id, in the order in which the promises first come up. */
export function byPromise(results: readonly CaseResult[]): Map<string, CaseResult[]> {
  const groups = new Map<string, CaseResult[]>()
  for (const result of results) {
    const promise = result.id.split('.')[0] as string
    const group = groups.get(promise)
    if (group === undefined) groups.set(promise, [result])
    else group.push(result)
  }
  return groups
}

/** Pads the columns of a table so that they line up; numbers stand to the right. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] as string).length)),
  )
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] as number
        return column === 0 ? cell.padEnd(width) : cell.padStart(width)
      })
      .join('  ')
      .trimEnd(),
  )
}

/**
 * The report of a driver by its declarations: a case is skipped if a capability is missing, not asked
 * if the subject lacks a hook, excepted if an exception is declared, and passed otherwise. Runs
 * nothing; the driver's own tests show that its declarations are true.
 */
export function declaredReport(
  name: string,
  subject: Subject,
  cases: readonly Case[],
  except: Readonly<Record<string, string>> = {},
): Report {
  const results = cases.map((chosen): CaseResult => {
    const { id, title } = chosen
    const result = { id, title, history: [], ms: 0 } as const
    const unasked = whyNotAsked(chosen, subject)
    if (unasked !== undefined) return { ...result, ...unasked }
    const excuse = except[id]
    if (excuse !== undefined) return { ...result, verdict: 'excepted', reason: excuse }
    return { ...result, verdict: 'passed' }
  })
  return { driver: name, capabilities: subject.driver.capabilities, seed: 0, results }
}

const marks: Readonly<Record<Verdict, string>> = {
  passed: 'kept',
  failed: '**broken**',
  skipped: '–',
  'not-asked': 'not asked',
  excepted: 'not met',
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

/**
 * Promises by driver as Markdown, with the reason for each promise that is not met. `heading` begins
 * the heading of each group, and `note` the number of each footnote.
 */
export function renderMarkdown(
  reports: readonly Report[],
  { heading = '##', note: prefix = '' }: { readonly heading?: string; readonly note?: string } = {},
): string {
  const names = reports.map(({ driver }) => driver)
  const found = reports.map(
    ({ results }) => new Map(results.map((result) => [result.id, result] as const)),
  )
  const reasons: string[] = []
  const note = (reason: string): string => {
    const known = reasons.indexOf(reason)
    return `[^${prefix}${(known >= 0 ? known : reasons.push(reason) - 1) + 1}]`
  }
  const parts: string[] = []
  for (const [promise, group] of byPromise(reports[0]?.results ?? [])) {
    parts.push(`${heading} ${promise}`, '')
    parts.push(`| promise | id | ${names.join(' | ')} |`)
    parts.push(`| --- | --- |${' --- |'.repeat(names.length)}`)
    for (const { id, title } of group) {
      const verdicts = found.map((results) => {
        const result = results.get(id)
        if (result === undefined) return '?'
        const { verdict, reason } = result
        return reason === undefined ? marks[verdict] : `${marks[verdict]} ${note(reason)}`
      })
      parts.push(`| ${cell(title)} | \`${id}\` | ${verdicts.join(' | ')} |`)
    }
    parts.push('')
  }
  return [
    ...parts,
    ...reasons.map((reason, index) => `[^${prefix}${index + 1}]: ${reason}`),
    '',
  ].join('\n')
}
