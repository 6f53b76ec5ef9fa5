import { type Lease, systemClock } from '@sluice/core'
import type { Engine } from './engine.ts'
import type { HeldKey } from './held-key.ts'
import { jitteredMs } from './patience.ts'

/** How long to wait between looking whether a transaction of the caller's has committed. */
const commitPatience = { first: 5, longest: 1_000 }

/**
 * A key was given back in a transaction of the caller's: finds out whether that has committed, by
 * renewing the lease, which only works if it has not.
 */
export function awaitCommit(engine: Engine, held: HeldKey<unknown>): void {
  held.mayBeGivenBack = true
  const { key, token } = held
  // Weakly: a Held that is dropped after a rollback must still be noticed.
  watch(engine, { key, token }, new WeakRef(held)).catch((error: unknown) => engine.report(error))
}

async function watch(engine: Engine, lease: Lease, ref: WeakRef<HeldKey<unknown>>): Promise<void> {
  const { driver, name, options } = engine
  const { leaseMs } = options
  for (let tries = 1; ; tries += 1) {
    await unreferencedPause(jitteredMs(tries, commitPatience))
    if (!isOpen(engine, ref.deref())) return
    const [reply] = await engine.call('renew', { leases: [lease], leaseMs }, () =>
      driver.renew(name, [lease], leaseMs),
    )
    const held = ref.deref()
    if (reply?.outcome === 'lost' && held !== undefined) engine.committed(held)
  }
}

function isOpen(engine: Engine, held: HeldKey<unknown> | undefined): boolean {
  return held?.phase === 'held' && !held.isLost && engine.phase !== 'closed'
}

function unreferencedPause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.startTimer(ms, resolve)
  })
}
