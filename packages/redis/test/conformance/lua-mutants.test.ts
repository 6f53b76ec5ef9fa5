/** The scripts, broken in one place at a time: each break is noticed by a case of the suite. */
import { createHash } from 'node:crypto'
import { allCases, runCase } from '@sluice/conformance'
import { hasRedis, type RedisProcess, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { scriptTexts } from '../../src/scripts.generated.ts'
import { type Script, type ScriptName, scripts } from '../../src/scripts.ts'
import { rareBreaks } from '../support/rare-script-breaks.ts'
import { type Break, breaks } from '../support/script-breaks.ts'
import { subjectsOn } from '../support/subjects.ts'

const allBreaks = [...breaks, ...rareBreaks]

test('every script is broken in one place at least', () => {
  const broken = new Set(allBreaks.map(({ script }) => script))
  expect(Object.keys(scriptTexts).filter((name) => !broken.has(name as ScriptName))).toEqual([])
})

/** Replaces a script until the test has finished. */
function putBack({ script, from, to }: Break): void {
  const all = scripts as Record<ScriptName, Script>
  const whole = scripts[script]
  // Scripts are sent without indents.
  const parts = whole.text.split(from.replaceAll(/\n +/g, '\n'))
  expect(parts, 'the script has the text once').toHaveLength(2)
  const text = parts.join(to)
  all[script] = { text, sha: createHash('sha1').update(text).digest('hex') }
  onTestFinished(() => {
    all[script] = whole
  })
}

describe.skipIf(!hasRedis)('on one server', () => {
  let server: RedisProcess

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(() => server.dispose())

  const subjects = subjectsOn(() => ({ url: server.url }))

  test.each(allBreaks)('$script: $name: $caughtBy notices', async (each) => {
    const chosen = allCases.find(({ id }) => id === each.caughtBy)
    expect(chosen, 'the case').toBeDefined()
    putBack(each)
    await server.command('FLUSHALL')
    const { verdict } = await runCase(chosen!, subjects, { timeoutMs: 20_000, hintMs: 500 })
    expect(verdict).toBe('failed')
  })
})
