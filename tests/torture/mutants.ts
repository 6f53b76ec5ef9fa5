import { parseArgs } from 'node:util'
import { sourceMutants } from '../support/mutants/all.ts'
import { passesWithout, putBack } from '../support/mutants/put-back.ts'
import { isTest, type Run, type Test } from '../support/mutants/source-mutant.ts'

function nameOf(finder: Run | Test): string {
  return isTest(finder) ? `${finder.file} › ${finder.title}` : finder.torture.join(' ')
}

/**
 * Puts known defects back one at a time, and shows which run or test finds each; a test has to pass
 * without. `--only=<part of a name>`, `--by=tests` or `--by=runs`.
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
  for (const mutant of chosen) {
    const { finder, name } = mutant
    const { isFound, why } = await putBack(mutant)
    const isReason = isFound && (!isTest(finder) || (await passesWithout(finder)))
    const verdict = isReason ? 'yes' : isFound ? 'NO, fails without' : 'NO'
    console.log([verdict, name, nameOf(finder), why.slice(0, 200)].join(' | '))
    if (!isReason) missed.push(name)
  }
  if (missed.length > 0) throw new Error(`not found: ${missed.join('; ')}`)
}
