import { parseArgs } from 'node:util'
import { sourceMutants } from '../support/mutants/sources/all.ts'
import { outcomeWith } from '../support/mutants/sources/put-back.ts'
import { isTest, type Run, type Test } from '../support/mutants/sources/source-mutant.ts'

function nameOf(finder: Run | Test): string {
  return isTest(finder) ? `${finder.file} › ${finder.title}` : finder.torture.join(' ')
}

/**
 * Puts known defects back one at a time, and shows which run or test finds each: it has to fail
 * with the edits, and to pass without. `--only=<part of a name>`, `--by=tests` or `--by=runs`.
 */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { only: { type: 'string', default: '' }, by: { type: 'string' } },
  })
  const chosen = sourceMutants.filter(({ finder, name }) => {
    const by = isTest(finder) ? 'tests' : 'runs'
    return name.includes(values.only) && (values.by ?? by) === by
  })
  const missed: string[] = []
  console.log('found | mutant | finder | what it says')
  for (const { name, edits, finder } of chosen) {
    const found = await outcomeWith(edits, finder)
    // What fails anyway has found nothing.
    const without = found.as === 'failed' ? await outcomeWith([], finder) : undefined
    const isFound = without?.as === 'passed'
    const { why } = without === undefined || isFound ? found : without
    const verdict = isFound ? 'yes' : without === undefined ? 'NO' : 'NO, fails without'
    console.log([verdict, name, nameOf(finder), why.slice(0, 200)].join(' | '))
    if (!isFound) missed.push(name)
  }
  if (missed.length > 0) throw new Error(`not found: ${missed.join('; ')}`)
}
