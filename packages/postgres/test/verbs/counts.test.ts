/** What is counted while keys change. */
import pg from 'pg'
import { expect, test } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { askOptions } from '../support/asks.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()

/** Takes the only key, and gives it back, again and again: each step is a transaction. */
const flips = `do $$ begin
  for i in 1..3000 loop
    update sluice.keys set token = 1, due_at = 'Infinity' where queue = 'flips';
    commit;
    update sluice.keys set token = null, due_at = 0 where queue = 'flips';
    commit;
  end loop;
end $$`

test('a key that is taken and given back meanwhile is counted once', async () => {
  const driver = postgresDriver({ connectionString: server.url, onWarning() {} })
  await driver.open({})
  await driver.add('flips', [{ key: 'a', item: '"a"', priority: 0, delayMs: 0 }], askOptions)
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  let isFlipping = true
  const flipping = client.query(flips).finally(() => {
    isFlipping = false
  })
  const totals = new Set<number>()
  while (isFlipping) {
    const { ready, delayed, processing } = await driver.counts('flips', { cap: 100 })
    totals.add(ready + delayed + processing)
  }
  await flipping
  await client.end()
  await driver.close()
  expect([...totals]).toEqual([1])
})
