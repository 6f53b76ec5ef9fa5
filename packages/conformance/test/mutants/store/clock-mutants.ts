import { type Clock, never, RisingTime } from '@sluice/core'
import { ModelStore } from '../../../src/model/model-store.ts'
import { modelRules } from '../../../src/model/rules.ts'
import { type StoreTime, storeTime } from '../../../src/model/store-time.ts'
import { type Mutant, mutant, ruleMutant } from '../mutant.ts'

const hour = 3_600_000

/** Derives tokens from the wall clock, so that they fall when it is set back. */
class TokensOfTime extends ModelStore {
  now: () => number = () => 0

  override nextToken(): number {
    return Math.floor(this.now()) * 1_000 + super.nextToken()
  }
}

/** Gives each driver its own time. */
class TimePerDriver extends ModelStore {
  override time(clock: Clock, make: (clock: Clock) => StoreTime): StoreTime {
    return make(clock)
  }
}

/** The wall clock, followed in both directions. */
function wallTime(clock: Clock): StoreTime {
  return { now: () => clock.now(), ahead: 0 }
}

/** Stands still after a step back until the wall clock has caught up. */
function waitingTime(clock: Clock): StoreTime {
  let latest = -Infinity
  return {
    now() {
      latest = Math.max(latest, clock.now())
      return latest
    },
    get ahead() {
      return Math.max(0, latest - clock.now())
    },
  }
}

/** A rising time to which a function of `ahead` is added. */
function rising(clock: Clock, more: (ahead: number) => number, said = 1): StoreTime {
  const time = new RisingTime(clock)
  const ahead = (): number => time.ahead + more(time.ahead)
  return {
    now: () => time.now() + more(time.ahead),
    get ahead() {
      return ahead() * said
    },
  }
}

function timeMutant(id: string, title: string, time: (clock: Clock) => StoreTime): Mutant {
  return ruleMutant(id, title, () => ({ storeTime: time }))
}

/** Clocks that are set, with one fault each. */
export const clockMutants: readonly Mutant[] = [
  mutant('clock-tokens-of-time', 'tokens are derived from the wall clock', () => {
    const store = new TokensOfTime()
    return {
      store,
      alter: (driver) => ({
        open(options) {
          store.now = () => options.clock?.now() ?? 0
          driver.open(options)
        },
      }),
    }
  }),
  timeMutant('clock-wall', 'the time of the store is that of the wall clock', wallTime),
  timeMutant('clock-waits', 'after a step back time stands still', waitingTime),
  timeMutant('clock-back-jumps', 'a step back moves time forward', (clock) =>
    rising(clock, (ahead) => ahead),
  ),
  timeMutant('clock-ahead-hidden', 'the reply does not report `ahead`', (clock) =>
    rising(clock, () => 0, 0),
  ),
  timeMutant('clock-slips', 'short steps back are followed', (clock) => {
    let lastWall = clock.now()
    let slipped = 0
    const time = new RisingTime(clock)
    return {
      now() {
        const wall = clock.now()
        if (wall < lastWall && lastWall - wall < 1_000) slipped += lastWall - wall
        lastWall = wall
        return time.now() - slipped
      },
      get ahead() {
        return time.ahead - slipped
      },
    }
  }),
  timeMutant('clock-forward-ignored', 'a step forward is not followed', (clock) =>
    storeTime(clock, 'monotonic'),
  ),
  mutant('clock-steady-follows', 'a time that is declared monotonic follows steps', () => ({
    time: 'monotonic',
    rules: { storeTime: (clock) => storeTime(clock, 'wall') },
  })),
  timeMutant('clock-forward-sticks', 'a step back that undoes one forward stops time', (clock) => {
    const time = new RisingTime(clock)
    const start = clock.now()
    let latest = -Infinity
    return {
      now() {
        const now = time.now()
        latest = now - start > hour && time.ahead > 0 ? Math.max(latest, clock.now()) : now
        return latest
      },
      get ahead() {
        return latest - clock.now()
      },
    }
  }),
  mutant('clock-each-its-own', 'each driver starts with the wall clock as it finds it', () => ({
    store: new TimePerDriver(),
  })),
  mutant('clock-restart-forgets', 'a store that is opened again starts with the wall clock', () => {
    const times = new WeakMap<ModelStore, { time: StoreTime; users: number }>()
    class Forgetful extends ModelStore {
      override time(clock: Clock, make: (clock: Clock) => StoreTime): StoreTime {
        const kept = times.get(this) ?? { time: make(clock), users: 0 }
        times.set(this, kept)
        kept.users += 1
        return kept.time
      }
    }
    return {
      store: new Forgetful(),
      alter: (driver, store) => ({
        close() {
          const kept = times.get(store)
          if (kept !== undefined) kept.users -= 1
          if (kept?.users === 0) times.delete(store)
          driver.close()
        },
      }),
    }
  }),
  mutant(
    'clock-back-blocks',
    'time is that of the wall clock, and instants in its future are not moved',
    () => ({
      rules: {
        storeTime: wallTime,
        ask(state, request, delayMs, options, now, seq) {
          const isFromTheFuture =
            state.why === 'add' && state.askedAt > now && state.dueAt !== never
          if (isFromTheFuture) return 'unchanged'
          return modelRules.ask(state, request, delayMs, options, now, seq)
        },
      },
    }),
  ),
  mutant('clock-back-fills', 'a wall clock that went back fills a bucket', () => {
    const clocks: Clock[] = []
    return {
      rules: {
        storeTime(clock, kind) {
          clocks.push(clock)
          return storeTime(clock, kind)
        },
        planned(store, plan, failures, jitter, now) {
          const clock = clocks.at(-1)
          for (const [name, row] of store.buckets) {
            const hasGoneBack = clock !== undefined && clock.now() < row.at - 1_000
            if (hasGoneBack) store.buckets.set(name, { ...row, tokens: row.burst, at: now })
          }
          return modelRules.planned(store, plan, failures, jitter, now)
        },
      },
    }
  }),
  ruleMutant(
    'clock-forward-holds',
    'a lease lasts longer when the clock was set forward',
    (rules) => ({
      isOver: (state, now) => rules.isOver(state, now) && now - state.leaseUntil < 3_000_000,
    }),
  ),
]
