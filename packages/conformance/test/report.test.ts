import { expect, test } from 'vitest'
import { modelSubject } from '../src/model/model-subject.ts'
import { columns, type Report, renderMarkdown } from '../src/report.ts'
import type { CaseResult } from '../src/run-cases.ts'

const { capabilities } = modelSubject().driver

function report(driver: string, ...results: Partial<CaseResult>[]): Report {
  const whole = results.map((result): CaseResult => {
    return { id: 'a.b', title: 'a | b', verdict: 'passed', history: [], ms: 1, ...result }
  })
  return { driver, capabilities, seed: 1, results: whole }
}

test('promises are rendered by driver, with the reasons at the end', () => {
  const markdown = renderMarkdown([
    report('one', {}, { id: 'c.d', verdict: 'skipped', reason: 'no clock' }),
    report('two', { verdict: 'excepted', reason: 'on purpose' }, { id: 'c.d', verdict: 'failed' }),
  ])
  expect(markdown).toBe(`## a

| promise | id | one | two |
| --- | --- | --- | --- |
| a \\| b | \`a.b\` | kept | not met [^1] |

## c

| promise | id | one | two |
| --- | --- | --- | --- |
| a \\| b | \`c.d\` | – [^2] | **broken** |

[^1]: on purpose
[^2]: no clock
`)
})

test('columns line up', () => {
  expect(
    columns([
      ['a', 'b'],
      ['long', '10'],
    ]),
  ).toEqual(['a      b', 'long  10'])
})
