import type { Driver, Operate } from '@sluice/core'
import type { OtherProcess, Subject } from '../../../src/case.ts'
import type { ModelStore } from '../../../src/model/model-store.ts'
import { altered, modelSubject } from '../../../src/model/model-subject.ts'
import type { Mutant } from '../mutant.ts'
import { emptying, othersMutant } from './others-mutant.ts'

/** Another process of the subject, with some members and its end replaced. */
function otherWith(
  subject: Subject,
  members: (driver: Driver) => Partial<Driver>,
  kill: () => void = () => {},
): Pick<Subject, 'otherProcess'> {
  return {
    async otherProcess() {
      const other = await subject.otherProcess?.()
      const { driver } = other as OtherProcess
      return { driver: altered(driver, members(driver)), kill }
    },
  }
}

/** Correct in one process; one fault each with several processes, or after a power cut. */
export const processMutants: readonly Mutant[] = [
  othersMutant('process-apart', 'another process has its own store', () => ({
    otherProcess: () => ({ driver: modelSubject().driver, kill() {} }),
  })),
  othersMutant(
    'process-claims-twice',
    'another process hands out keys that are held',
    (subject, store) =>
      otherWith(subject, (driver) => ({
        claim(queue, request) {
          const held = [...store.queue(queue).keys.values()].find(({ state }) => state.token !== 0)
          if (held !== undefined && request.limit > 50) {
            Object.assign(held.state, { token: 0, dueAt: 0 })
          }
          return driver.claim(queue, request)
        },
      })),
  ),
  othersMutant(
    'process-token-blocks',
    'another process draws tokens from its own block',
    (subject, store) =>
      otherWith(subject, (driver) => ({
        async claim(queue, request) {
          const reply = await driver.claim(queue, request)
          const claims = reply.claims.map((claim) => {
            const { state } = store.key(queue, claim.key)
            state.token += 1_000_000
            return { ...claim, token: state.token }
          })
          return { ...reply, claims }
        },
      })),
  ),
  othersMutant(
    'process-busy-done',
    'a write that meets another reports busy, and took effect',
    (subject) =>
      otherWith(subject, (driver) => {
        let adds = 0
        return {
          add(queue, asks, options) {
            adds += 1
            const replies = driver.add(queue, asks, options)
            if (adds % 10 !== 9) return replies
            return asks.map(() => ({ outcome: 'unchanged', dueAt: 0, failures: 0 }) as const)
          },
        }
      }),
  ),
  othersMutant(
    'process-wake-lost',
    'another process wakes only the first queue of a turn',
    (subject, store) => {
      const watch = store.wake.bind(store)
      let hasWoken = false
      return otherWith(subject, (driver) => ({
        add(queue, asks, options) {
          store.wake = hasWoken ? () => {} : watch
          hasWoken = true
          setImmediate(() => {
            hasWoken = false
          })
          const replies = driver.add(queue, asks, options)
          store.wake = watch
          return replies
        },
      }))
    },
  ),
  othersMutant(
    'process-resume-silent',
    'a resume by another process wakes no watcher',
    (subject, store) => {
      const watch = store.wake.bind(store)
      return otherWith(subject, (driver) => {
        const operate = driver.operate as Operate
        return {
          operate: {
            ...operate,
            resume(queue) {
              store.wake = () => {}
              const outcome = operate.resume(queue)
              store.wake = watch
              return outcome
            },
          },
        }
      })
    },
  ),
  othersMutant(
    'process-idle-wakes',
    'a heartbeat of another process wakes every watcher',
    (subject, store) =>
      otherWith(subject, (driver) => ({
        tick(queue, request) {
          if (request.worker !== undefined) store.wake(undefined)
          return driver.tick(queue, request)
        },
      })),
  ),
  othersMutant('process-workers-own', 'another process lists its own workers only', (subject) =>
    otherWith(subject, (driver) => ({
      async workers(queue, withinMs) {
        const workers = (await driver.workers?.(queue, withinMs)) ?? []
        return workers.filter(({ holder }) => holder === 'there')
      },
    })),
  ),
  othersMutant(
    'process-kill-loses',
    'the last writes of a process are lost when it is killed',
    (subject, store) => {
      let last: (() => unknown) | undefined
      return otherWith(
        subject,
        (driver) => ({
          async finish(queue, finishes, options) {
            const before = store.snapshot()
            last = () => Object.assign(store, before)
            return await driver.finish(queue, finishes, options)
          },
        }),
        () => last?.(),
      )
    },
  ),
  othersMutant(
    'process-kill-halves',
    'half of the last batch is stored when a process is killed',
    (subject, store) => {
      let last: (() => void) | undefined
      return otherWith(
        subject,
        (driver) => ({
          add(queue, asks, options) {
            last = () => {
              for (const { key } of asks.slice(asks.length / 2)) store.queue(queue).keys.delete(key)
            }
            return driver.add(queue, asks, options)
          },
        }),
        () => last?.(),
      )
    },
  ),
  othersMutant(
    'process-kill-claims',
    'half of the last claim is held when a process is killed',
    (subject, store) => {
      let last: (() => void) | undefined
      return otherWith(
        subject,
        (driver) => ({
          async claim(queue, request) {
            const reply = await driver.claim(queue, request)
            const { claims } = reply
            last = () => {
              for (const { key } of claims.slice(claims.length / 2)) {
                store.key(queue, key).state.token = 0
              }
            }
            return reply
          },
        }),
        () => last?.(),
      )
    },
  ),
  othersMutant(
    'process-open-empties',
    'a process that opens an empty store empties it again',
    (subject, store) => otherWith(subject, (driver) => emptying(driver, store)),
  ),
  ...(['add', 'finish', 'renew', 'expire', 'cancel', 'forget'] as const).map((verb) =>
    othersMutant(
      `power-${verb}`,
      `the last ${verb} is not there after a power cut`,
      (subject, store) => {
        let before: ReturnType<ModelStore['snapshot']> | undefined
        const watched = (driver: Driver): Driver =>
          altered(driver, {
            [verb](...args: unknown[]) {
              before = store.snapshot()
              return Reflect.apply(driver[verb], driver, args)
            },
            list(queue, request) {
              return driver.list(queue, request)
            },
          })
        return {
          driver: watched(subject.driver),
          async cutPower() {
            if (before !== undefined) Object.assign(store, before)
            before = undefined
            return watched((await subject.cutPower?.()) as Driver)
          },
        }
      },
    ),
  ),
  othersMutant(
    'power-tokens',
    'tokens from before a power cut are given out again',
    (subject, store) => ({
      async cutPower() {
        const next = store.nextToken.bind(store)
        store.nextToken = () => next() - 2_000
        return (await subject.cutPower?.()) as Driver
      },
    }),
  ),
  othersMutant('power-pause', 'a pause ends with a power cut', (subject, store) => ({
    async cutPower() {
      for (const queue of store.queues.values()) queue.paused = false
      return (await subject.cutPower?.()) as Driver
    },
  })),
  othersMutant(
    'power-middle',
    'half of a large batch is stored after a power cut',
    (subject, store) => ({
      async cutPower() {
        for (const { keys } of store.queues.values()) {
          if (keys.size !== 1_000) continue
          for (const key of [...keys.keys()].slice(500)) keys.delete(key)
        }
        return (await subject.cutPower?.()) as Driver
      },
    }),
  ),
]
