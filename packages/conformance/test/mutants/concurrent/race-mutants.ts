import { type ClaimReply, noToken, SluiceError } from '@sluice/core'
import { type Mutant, verbMutant } from '../mutant.ts'

/** Long enough for a concurrent call of another client to run in between. */
async function meanwhile(turns = 3): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await undefined
}

/** Correct while calls come one after another; only histories can catch these. */
export const raceMutants: readonly Mutant[] = [
  verbMutant('race-claims-shared', 'two concurrent claims get the same answer', (driver) => {
    const underWay = new Map<string, Promise<ClaimReply>>()
    return {
      claim(queue, request) {
        const other = underWay.get(queue)
        if (other !== undefined) return other
        const claim = meanwhile().then(() => {
          underWay.delete(queue)
          return driver.claim(queue, request)
        })
        underWay.set(queue, claim)
        return claim
      },
    }
  }),
  verbMutant(
    'race-add-dropped',
    'an add that comes while a claim is in flight is dropped',
    (driver) => {
      let claims = 0
      return {
        async claim(queue, request) {
          claims += 1
          await meanwhile()
          claims -= 1
          return driver.claim(queue, request)
        },
        add(queue, asks, options) {
          if (claims === 0) return driver.add(queue, asks, options)
          return asks.map(() => ({ outcome: 'unchanged' as const, dueAt: 0, failures: 0 }))
        },
      }
    },
  ),
  verbMutant(
    'race-done-deletes',
    'done deletes a row that became dirty after it was read',
    (driver, store) => ({
      async finish(queue, finishes, options) {
        const wasOwed = finishes.map(({ key }) => store.key(queue, key).state.dueAt !== Infinity)
        await meanwhile()
        const replies = driver.finish(queue, finishes, options)
        for (const [index, finish] of finishes.entries()) {
          const isDone = finish.as === 'done' && finish.again === undefined
          const isLost = replies[index]?.outcome === 'lost'
          if (isDone && !wasOwed[index] && !isLost) driver.cancel(queue, [finish.key])
        }
        return replies
      },
    }),
  ),
  verbMutant(
    'race-token-checked-early',
    'a token is checked, and then the key is freed',
    (driver, store) => ({
      async finish(queue, finishes, options) {
        const now = finishes.map(({ key, token }) => store.key(queue, key).state.token === token)
        await meanwhile(12)
        const late = finishes.map((finish, index) => {
          const { token } = store.key(queue, finish.key).state
          return now[index] && token !== noToken ? { ...finish, token } : finish
        })
        return driver.finish(queue, late, options)
      },
    }),
  ),
  verbMutant(
    'race-refused-but-done',
    'a call that meets another reports a rejection, and took effect',
    (driver) => {
      let calls = 0
      return {
        async add(queue, asks, options) {
          calls += 1
          await meanwhile()
          const isAlone = calls === 1
          calls -= 1
          const replies = driver.add(queue, asks, options)
          if (isAlone) return replies
          throw new SluiceError('ERR_STORE_BUSY', 'busy', { retryable: true })
        },
      }
    },
  ),
  verbMutant(
    'race-lease-lost-on-renew',
    'a renewal that meets a finish brings the holder back',
    (driver, store) => ({
      async renew(queue, leases, leaseMs) {
        const before = leases.map(({ key, token }) => store.key(queue, key).state.token === token)
        await meanwhile()
        for (const [index, { key, token }] of leases.entries()) {
          const { state } = store.key(queue, key)
          if (before[index] && state.token === noToken) state.token = token
        }
        store.sweep(queue, ({ token, dueAt, failures, parked }) => {
          return token === noToken && dueAt === Infinity && failures === 0 && !parked
        })
        return driver.renew(queue, leases, leaseMs)
      },
    }),
  ),
]
