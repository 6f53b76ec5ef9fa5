/**
 * Goes through the verbs once and says what was acknowledged, so that the system can be made to fail
 * or to kill it at every one of its calls.
 */
import { writeSync } from 'node:fs'
import { SluiceError } from '@sluice/core'
import { sqliteDriver } from '@sluice/sqlite'

const file = process.argv[2] ?? ''
const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const

function say(text: string): void {
  writeSync(1, `${text}\n`)
}

/** Goes on after an error, as long as it is one that says what it is. */
async function attempt(what: string, call: () => unknown): Promise<void> {
  try {
    const answer = await call()
    say(`${what} ${JSON.stringify(answer)}`)
  } catch (error) {
    if (!SluiceError.is(error)) throw error
    say(`${error.code} ${what}`)
  }
}

const ask = (key: string) => ({ key, item: undefined, priority: 0, delayMs: 0 })
const driver = sqliteDriver({ file, durability: 'power' })
try {
  await driver.open({})
} catch (error) {
  if (!SluiceError.is(error)) throw error
  say(`${error.code} open`)
  process.exit(0)
}
await attempt('first', () => driver.add('q', [ask('a'), ask('b')], options))
let held: readonly { readonly key: string; readonly token: number }[] = []
await attempt('claim', async () => {
  const request = { limit: 1, holder: 'h', claimId: 'c', leaseMs: 60_000 }
  held = (await driver.claim('q', request)).claims
  return held.map(({ key }) => key)
})
await attempt('finish', () =>
  driver.finish(
    'q',
    held.map(({ key, token }) => ({ as: 'done', key, token, forget: true })),
    options,
  ),
)
await attempt('last', () => driver.add('q', [ask('c')], options))
await driver.close()
say('end')
