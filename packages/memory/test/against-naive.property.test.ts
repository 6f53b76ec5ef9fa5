import {
  type Ask,
  type AskOptions,
  type ClaimReply,
  type ExpireOptions,
  type Finish,
  type LimiterPlan,
  never,
} from '@sluice/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blankClaim } from './blank-claim.ts'
import { DriverPair, queueName, shortExpireMs } from './driver-pair.ts'

const plan: LimiterPlan = { kind: 'exponential', baseMs: 10, maxMs: 1_000 }
const failuresExpireMs = 500

type Step = (pair: DriverPair) => void

/** A step of that name, which a counter-example prints with its arguments. */
function step<Args>(
  name: string,
  args: fc.Arbitrary<Args>,
  take: (pair: DriverPair, args: Args) => void,
): fc.Arbitrary<Step> {
  return args.map((given) =>
    Object.assign((pair: DriverPair) => take(pair, given), {
      [fc.toStringMethod]: () => `${name} ${fc.stringify(given)}`,
    }),
  )
}

const anyKey = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'é', '\u{1f600}', '\uffee')
const anyKeys = fc.uniqueArray(anyKey, { minLength: 1, maxLength: 4 })
const anyDelay = fc.constantFrom(-1, 0, 0, 0.5, 10, 10, 20, 50, 400)
const anyPriority = fc.constantFrom(0, 0, 0, 0, 1, 7, -3, 1_000, -1_000)
const anyDedupe = fc.constantFrom('client-go' as const, 'earliest' as const)

/** Mostly none: the keys of adds without a context are plain. */
const anyTrace = fc
  .constantFrom('', '', '', '', '01', '02', '03')
  .map((span) => (span === '' ? undefined : `00-${'ab'.repeat(16)}-${span.repeat(8)}-01`))

const anyAsk: fc.Arbitrary<Ask> = fc.record({
  key: anyKey,
  item: fc.option(fc.constantFrom('1', '"two"'), { nil: undefined }),
  priority: anyPriority,
  delayMs: anyDelay,
  maxWaitMs: fc.option(fc.constantFrom(15, 60), { nil: undefined, freq: 6 }),
  failed: fc.option(fc.boolean(), { nil: undefined }),
  plan: fc.option(fc.constant(plan), { nil: undefined, freq: 4 }),
  jitter: fc.constant(0.5),
  trace: anyTrace,
})

/** Mostly one setting, as all users of a queue should have; but each verb goes by its own. */
const anyExpiry: fc.Arbitrary<number> = fc.constantFrom(
  failuresExpireMs,
  failuresExpireMs,
  shortExpireMs,
)

const anyOptions: fc.Arbitrary<AskOptions> = fc.record({
  dedupe: anyDedupe,
  failuresExpireMs: anyExpiry,
  maxPending: fc.option(fc.constant(4), { nil: undefined, freq: 5 }),
})

const anyExpireOptions: fc.Arbitrary<ExpireOptions> = fc.record({
  dedupe: anyDedupe,
  plan: fc.option(fc.constant(plan), { nil: undefined }),
  jitter: fc.constant(0),
  maxCrashes: fc.constantFrom(1, 2, 5),
})

const add = step(
  'add',
  fc.tuple(fc.uniqueArray(anyAsk, { selector: ({ key }) => key, minLength: 1 }), anyOptions),
  ({ driver, naive }, [asks, options]) => {
    expect(driver.add(queueName, asks, options)).toEqual(naive.add(asks, options))
  },
)

const addDirect = step(
  'addDirect',
  fc.tuple(anyKey, fc.constantFrom(undefined, '3'), anyPriority, anyDedupe, anyExpiry),
  ({ driver, naive }, [key, item, priority, dedupe, failuresExpireMs]) => {
    const ask = { key, item, priority, delayMs: 0 }
    const options = { dedupe, failuresExpireMs }
    const [reply] = naive.add([ask], options)
    expect(driver.direct!(queueName).add(key, item, priority, options)).toBe(reply!.outcome)
  },
)

/** Several keys, repeatedly: adds in the order of earlier ones are known to be no-ops. */
const addInARow = step(
  'addInARow',
  fc.tuple(anyKeys, fc.integer({ min: 1, max: 4 }), anyPriority, anyDedupe),
  ({ driver, naive }, [keys, times, priority, dedupe]) => {
    const direct = driver.direct!(queueName)
    for (const key of Array.from({ length: times }, () => keys).flat()) {
      const isNoOp = direct.isNoOp!(key, priority)
      const options = { dedupe, failuresExpireMs }
      const outcome = isNoOp ? 'unchanged' : direct.add(key, undefined, priority, options)
      const ask = { key, item: undefined, priority, delayMs: 0 }
      expect(outcome).toBe(naive.add([ask], options)[0]!.outcome)
    }
  },
)

function sorted<Lease extends { readonly key: string }>(leases: readonly Lease[]): Lease[] {
  return [...leases].sort((a, b) => (a.key < b.key ? -1 : 1))
}

const claim = step(
  'claim',
  fc.record({
    limit: fc.constantFrom(1, 1, 2, 3, 10),
    leaseMs: fc.constantFrom(never, never, 20, 30, 100),
    dueAgo: fc.option(fc.constantFrom(-10, 0, 10, 25), { nil: undefined, freq: 4 }),
  }),
  (pair, { limit, leaseMs, dueAgo }) => {
    const dueBy = dueAgo === undefined ? undefined : pair.clock.now() - dueAgo
    const request = { limit, leaseMs, dueBy, holder: 'h', claimId: 'c' }
    const reply = pair.driver.claim(queueName, request) as ClaimReply
    const naiveReply = pair.naive.claim(request)
    const withoutToken = (claims: ClaimReply['claims']): unknown[] =>
      claims.map(({ token, ...rest }) => rest)
    expect(withoutToken(reply.claims)).toEqual(withoutToken(naiveReply.claims))
    expect(sorted(reply.leaseEnds).map(({ key }) => key)).toEqual(
      sorted(naiveReply.leaseEnds).map(({ key }) => key),
    )
    expect(reply.now).toBe(naiveReply.now)
    reply.claims.forEach(({ key, token }, at) => {
      expect(token).toBeGreaterThan(pair.held.at(-1)?.token ?? 0)
      pair.held.push({ key, token, naiveToken: naiveReply.claims[at]!.token })
    })
  },
)

/** Mostly without asking for the trace, which unpacks the row. */
const asksForTrace = fc.constantFrom(false, false, true)

const claimed = fc.tuple(asksForTrace, fc.constantFrom('h', 'h', 'other'))

const claimDirect = step('claimDirect', claimed, (pair, [asksTrace, holder]) => {
  const into = blankClaim()
  const wasClaimed = pair.driver.direct!(queueName).claim(into, holder, never)
  if (!wasClaimed) {
    const { claims, leaseEnds } = pair.naive.claim({
      limit: 1,
      leaseMs: never,
      holder,
      claimId: 'c',
      dueBy: -never,
    })
    expect(claims).toEqual([])
    const isWaiting = pair.naive.counts().ready > 0 && !pair.naive.isPaused
    if (isWaiting) expect(leaseEnds).not.toEqual([])
    return
  }
  const request = { limit: 1, leaseMs: never, holder, claimId: 'c' }
  const [naiveClaim] = pair.naive.claim(request).claims
  const { key, token: naiveToken, failures, crashes, priority, askedAt, item, trace } = naiveClaim!
  const { handle, token, ...rest } = into
  expect(rest).toEqual({ key, itemText: item, failures, crashes, priority, askedAt })
  if (asksTrace) expect(pair.driver.direct!(queueName).trace!(handle, token)).toBe(trace)
  pair.held.push({ key, token, naiveToken, handle })
})

const finish = step(
  'finish',
  fc.record({
    index: fc.nat(3),
    as: fc.constantFrom('done', 'done', 'retry', 'release', 'park'),
    forget: fc.boolean(),
    delayMs: anyDelay,
    plan: fc.option(fc.constant(plan), { nil: undefined }),
    error: fc.option(fc.constant('boom'), { nil: undefined }),
    options: anyOptions,
  }),
  (pair, { index, options, ...finish }) => {
    const held = pair.pick(index)
    if (held === undefined) return
    const request = { ...finish, key: held.key, token: held.token } as Finish
    const naiveRequest = { ...finish, key: held.key, token: held.naiveToken } as Finish
    expect(pair.driver.finish(queueName, [request], options)).toEqual(
      pair.naive.finish([naiveRequest], options),
    )
  },
)

const finishDirect = step(
  'finishDirect',
  fc.record({ index: fc.nat(3), as: fc.constantFrom('done', 'release'), forget: fc.boolean() }),
  (pair, { index, as, forget }) => {
    const { handle, key, naiveToken, token } = pair.pick(index) ?? { key: '' }
    if (handle === undefined) return
    const direct = pair.driver.direct!(queueName)
    const options = { dedupe: 'client-go', failuresExpireMs } as const
    const request = { as, key, forget } as { as: 'done'; key: string; forget: boolean }
    const [reply] = pair.naive.finish([{ ...request, token: naiveToken! }], options)
    if (as === 'done') expect(direct.done(handle, token!, forget)).toBe(reply!.outcome)
    else expect(direct.finish(handle, { ...request, token: token! }, options)).toEqual(reply)
  },
)

const forgetDirect = step('forgetDirect', anyKey, ({ driver, naive }, key) => {
  expect(driver.direct!(queueName).forget(key)).toBe(naive.forget([key])[0])
})

const renew = step(
  'renew',
  fc.tuple(fc.nat(3), fc.constantFrom(10, 50, never)),
  (pair, [index, leaseMs]) => {
    const held = pair.pick(index)
    if (held === undefined) return
    const { key, token, naiveToken } = held
    expect(pair.driver.renew(queueName, [{ key, token }], leaseMs)).toEqual(
      pair.naive.renew([{ key, token: naiveToken }], leaseMs),
    )
  },
)

const expire = step('expire', fc.tuple(fc.nat(3), anyExpireOptions), (pair, [index, options]) => {
  const held = pair.pick(index)
  if (held === undefined) return
  const { key, token, naiveToken } = held
  expect(pair.driver.expire(queueName, [{ key, token }], options)).toEqual(
    pair.naive.expire([{ key, token: naiveToken }], options),
  )
})

const byKeys = step(
  'byKeys',
  fc.tuple(
    anyKeys,
    fc.constantFrom('forget', 'cancel', 'park', 'unpark', 'runNow', 'remove'),
    fc.boolean(),
  ),
  ({ driver, naive }, [keys, verb, forget]) => {
    if (verb === 'forget' || verb === 'cancel') {
      expect(driver[verb](queueName, keys)).toEqual(naive[verb](keys))
    } else if (verb === 'unpark') {
      expect(driver.operate!.unpark(queueName, keys, { forget })).toEqual(
        naive.unpark(keys, forget),
      )
    } else {
      expect(driver.operate![verb as 'park'](queueName, keys)).toEqual(naive[verb as 'park'](keys))
    }
  },
)

const purge = step('purge', fc.constant(undefined), ({ driver, naive }) => {
  expect(driver.operate!.purge(queueName)).toBe(naive.purge())
})

const pauseOrResume = step('pauseOrResume', fc.boolean(), ({ driver, naive }, paused) => {
  const outcome = naive.isPaused === paused ? 'unchanged' : 'changed'
  naive.isPaused = paused
  expect(driver.operate![paused ? 'pause' : 'resume'](queueName)).toBe(outcome)
})

const tick = step('tick', fc.constant(undefined), ({ driver, naive }) => {
  naive.sweep(failuresExpireMs)
  void driver.tick(queueName, { holder: 'h', limit: 100, failuresExpireMs })
})

const passTime = step(
  'passTime',
  fc.constantFrom(0.5, 5, 10, 10, 10, 30, 200, 600),
  ({ clock, time }, ms) => {
    clock.pass(ms)
    time.pass(ms)
  },
)

const setWallClock = step(
  'setWallClock',
  fc.constantFrom(-3_600_000, -30, -5, 5, 600, 3_600_000),
  ({ clock, driver, time }, ms) => {
    clock.setTime(clock.now() + ms)
    expect(driver.ahead).toBe(time.now() - clock.now())
  },
)

const failures = step('failures', anyKey, ({ driver, naive, time }, key) => {
  const row = naive.rows().find((other) => other.key === key)
  const isStale = row?.state === 'idle' && row.failedAt + failuresExpireMs <= time.now()
  expect(driver.direct!(queueName).failures(key, failuresExpireMs)).toBe(
    row === undefined || isStale ? 0 : row.failures,
  )
})

const anyStep = fc.oneof(
  { weight: 8, arbitrary: add },
  { weight: 4, arbitrary: addDirect },
  { weight: 4, arbitrary: addInARow },
  { weight: 6, arbitrary: claim },
  { weight: 4, arbitrary: claimDirect },
  { weight: 10, arbitrary: finish },
  { weight: 6, arbitrary: finishDirect },
  { weight: 2, arbitrary: forgetDirect },
  { weight: 2, arbitrary: renew },
  { weight: 3, arbitrary: expire },
  { weight: 4, arbitrary: byKeys },
  { weight: 1, arbitrary: purge },
  { weight: 1, arbitrary: pauseOrResume },
  { weight: 1, arbitrary: tick },
  { weight: 6, arbitrary: passTime },
  { weight: 2, arbitrary: setWallClock },
  { weight: 1, arbitrary: failures },
)

test('does what a naive driver on a sorted map does', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 1, maxLength: 100, size: 'max' }), (steps) => {
      const pair = new DriverPair()
      for (const step of steps) {
        step(pair)
        pair.check()
      }
    }),
    { numRuns: 300 },
  )
})
