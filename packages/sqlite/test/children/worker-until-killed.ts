/**
 * Adds, takes and finishes keys on the file that it is given until it is killed, and says on its
 * standard output what was acknowledged, line by line, at once:
 *
 *     A key...          added
 *     C key token ...   claimed
 *     d key...          about to be given back; what becomes of it is open until
 *     D key...          done
 */
import { writeSync } from 'node:fs'
import { sqliteDriver } from '@sluice/sqlite'

const [, , file = '', prefix = '', durability = 'process', seedText = '1'] = process.argv
let state = Number(seedText) % 2_147_483_647

/** The next number of a sequence that the seed decides, from 0 to below `n`. */
function random(n: number): number {
  state = (state * 48_271) % 2_147_483_647
  return state % n
}

function say(kind: string, words: readonly (string | number)[]): void {
  writeSync(1, `${kind} ${words.join(' ')}\n`)
}

const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
const driver = sqliteDriver({ file, durability: durability as 'power' | 'process' })
await driver.open({})
say('open', [])
let held: { key: string; token: number }[] = []
for (let round = 0; ; round += 1) {
  const keys = Array.from({ length: 1 + random(20) }, (_, index) => `${prefix}/${round}/${index}`)
  await driver.add(
    'q',
    keys.map((key) => ({
      key,
      item: random(3) === 0 ? JSON.stringify('x'.repeat(random(500))) : undefined,
      priority: random(3),
      delayMs: random(4) === 0 ? random(5) : 0,
    })),
    options,
  )
  say('A', keys)
  const { claims } = await driver.claim('q', {
    limit: 1 + random(20),
    holder: prefix,
    claimId: `${prefix} ${round}`,
    leaseMs: 60_000,
  })
  if (claims.length > 0) {
    say(
      'C',
      claims.flatMap(({ key, token }) => [key, token]),
    )
  }
  held.push(...claims)
  const done = held.filter(() => random(2) === 0)
  held = held.filter((each) => !done.includes(each))
  if (done.length === 0) continue
  const names = done.map(({ key }) => key)
  say('d', names)
  await driver.finish(
    'q',
    done.map(({ key, token }) => ({ as: 'done', key, token, forget: true })),
    options,
  )
  say('D', names)
}
