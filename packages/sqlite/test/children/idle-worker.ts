/**
 * A process that waits for keys which do not come: it sends heartbeats, and claims whenever it is
 * woken. Says how often it was woken once it has sent as many heartbeats as the parent asks for.
 */
import { systemClock, type Ticker } from '@sluice/core'
import { sqliteDriver } from '@sluice/sqlite'

const [, , file = '', name = '', heartbeatsText = '10'] = process.argv
const driver = sqliteDriver({ file, durability: 'process' })
await driver.open({})
let wakes = 0
let claims = 0
let heartbeats = 0
let ticker: Ticker | undefined

await driver.watch?.(() => {
  wakes += 1
  claims += 1
  const claimId = `${name}/${claims}`
  void driver.claim('q', { limit: 1, holder: name, claimId, leaseMs: 30_000 })
})

function heartbeat(): void {
  heartbeats += 1
  const worker = { holder: name, concurrency: 1 } as never
  void driver.tick('q', { holder: name, limit: 10, failuresExpireMs: 86_400_000, worker })
  if (heartbeats < Number(heartbeatsText)) return
  ticker?.stop()
  process.send?.({ wakes })
}

process.once('message', () => {
  wakes = 0
  ticker = systemClock.startTicker(20, heartbeat)
})
process.once('disconnect', () => process.exit())
process.send?.('waits')
