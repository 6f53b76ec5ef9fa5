import { type Claim, SluiceError } from '@sluice/core'
import { type Mutant, verbMutant } from '../mutant.ts'

/** Closing, restarting and several processes, with one fault each. */
export const lifecycleMutants: readonly Mutant[] = [
  verbMutant('close-for-good', 'a driver that was closed cannot be opened again', (driver) => {
    let isClosed = false
    return {
      close() {
        isClosed = true
      },
      open(options) {
        if (isClosed) throw new SluiceError('ERR_CLOSED', 'closed for good')
        driver.open(options)
      },
    }
  }),
  verbMutant('close-once', 'closing twice is an error', (driver) => {
    let isOpen = false
    return {
      open(options) {
        isOpen = true
        driver.open(options)
      },
      close() {
        if (!isOpen) throw new SluiceError('ERR_CLOSED', 'closed already')
        isOpen = false
      },
    }
  }),
  verbMutant('close-releases', 'closing releases held keys', (_, store) => ({
    close() {
      for (const { keys } of store.queues.values()) {
        for (const { state } of keys.values()) {
          if (state.token !== 0) Object.assign(state, { token: 0, dueAt: 0, leaseUntil: Infinity })
        }
      }
    },
  })),
  verbMutant('close-empties-buckets', 'buckets are lost when the process ends', (_, store) => ({
    close() {
      store.buckets.clear()
    },
  })),
  verbMutant('close-forgets-second', 'second runs are lost when the process ends', (_, store) => ({
    close() {
      for (const { keys } of store.queues.values()) {
        for (const { state } of keys.values()) state.laterAt = Infinity
      }
    },
  })),
  verbMutant('close-forgets-items', 'items are lost when the process ends', (_, store) => ({
    close() {
      for (const { keys } of store.queues.values()) {
        for (const entry of keys.values()) entry.item = undefined
      }
    },
  })),
  verbMutant(
    'restart-reverses',
    'keys that waited over a restart come out in reverse order',
    (_, store) => ({
      close() {
        for (const { keys } of store.queues.values()) {
          for (const { state } of keys.values()) state.seq = -state.seq
        }
      },
    }),
  ),
  verbMutant('peers-apart', 'a process does not see the adds of others', (driver, store) => {
    const own = new Set<string>()
    return {
      add(queue, asks, options) {
        for (const { key } of asks) own.add(key)
        return driver.add(queue, asks, options)
      },
      claim(queue, request) {
        const hidden = [...store.queue(queue).keys.values()].filter(
          ({ key, state }) => state.token === 0 && !state.parked && !own.has(key),
        )
        for (const { state } of hidden) state.parked = true
        const reply = driver.claim(queue, request)
        for (const { state } of hidden) state.parked = false
        return reply
      },
    }
  }),
  verbMutant('adopt-anything', 'claims are found again after they were finished', (driver) => {
    const made = new Map<string, readonly Claim[]>()
    return {
      claim(queue, request) {
        const reply = driver.claim(queue, request)
        made.set(request.claimId, reply.claims)
        return reply
      },
      adopt: (_, claimId) => made.get(claimId) ?? [],
    }
  }),
  verbMutant('adopt-nothing', 'claims are not found again', () => ({ adopt: () => [] })),
  verbMutant('adopt-any-queue', 'a claim is found again in every queue', (driver, store) => ({
    adopt: (_, claimId) =>
      [...store.queues.keys()].flatMap((queue) => driver.adopt(queue, claimId)),
  })),
  verbMutant('restart-loses-workers', 'workers are not stored', (driver, store) => ({
    open(options) {
      for (const { workers } of store.queues.values()) workers.clear()
      driver.open(options)
    },
  })),
]
