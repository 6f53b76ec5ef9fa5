import { mutant, type QueueMutant } from './mutant.ts'

const halfHourMs = 1_800_000

/** Queues that should leave their store alone, one thing wrong in each. */
export const quietingMutants: readonly QueueMutant[] = [
  mutant('quiet-not', 'a queue without work goes on polling', () => ({
    options: ({ quietAfterMs: _, ...options }) => options,
  })),
  mutant('quiet-forgets-next', 'a key that is due much later is forgotten', () => ({
    driver: (driver) => ({
      async tick(queue, request) {
        const reply = await driver.tick(queue, request)
        const isLate = reply.nextAt > reply.now + halfHourMs
        return isLate ? { ...reply, nextAt: Infinity } : reply
      },
    }),
  })),
  mutant('quiet-not-woken', 'wake does nothing', () => ({
    queue: () => ({ wake: () => undefined }),
  })),
  mutant('quiet-for-good', 'a store whose watch was ended is not watched again', () => ({
    driver(driver) {
      let watched = 0
      return {
        watch(onWake) {
          watched += 1
          return watched === 1 && driver.watch !== undefined ? driver.watch(onWake) : () => {}
        },
      }
    },
  })),
  mutant('quiet-lets-go', 'leases are renewed for a minute only', () => ({
    driver(driver) {
      let renewals = 0
      return {
        async renew(queue, leases, leaseMs) {
          renewals += 1
          if (renewals <= 6) return await driver.renew(queue, leases, leaseMs)
          return leases.map(() => ({ outcome: 'lost' as const, leaseUntil: 0 }))
        },
      }
    },
  })),
]
