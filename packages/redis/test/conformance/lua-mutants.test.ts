/** The scripts, broken in one place at a time: each break is noticed by a case of the suite. */
import { createHash } from 'node:crypto'
import { allCases, runCase } from '@sluice/conformance'
import { needs } from '@sluice/needs'
import { hasRedis, type RedisProcess, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { scriptTexts } from '../../src/scripts.generated.ts'
import { type Script, type ScriptName, scripts } from '../../src/scripts.ts'
import { subjectsOn } from '../support/subjects.ts'

/** One break: this text of a script, which has it once, for that one. */
interface Break {
  readonly script: ScriptName
  readonly name: string
  readonly from: string
  readonly to: string
  readonly caughtBy: string
}

const breaks: readonly Break[] = [
  {
    script: 'add',
    name: 'a batch has no order of arrival',
    from: 'local number = seq + index',
    to: 'local number = seq + count - index',
    caughtBy: 'order.batch',
  },
  {
    script: 'add',
    name: 'the keys of a batch do not count towards maxPending',
    from: 'if pendingKeys and not wasPending then pendingKeys = pendingKeys + 1 end',
    to: '',
    caughtBy: 'size.add.max-pending',
  },
  {
    script: 'add',
    name: 'an add without an item leaves the stored one',
    from: "state.item = item ~= '' and item",
    to: "state.item = item ~= '' and item or nil",
    caughtBy: 'item.none.replaces',
  },
  {
    script: 'add',
    name: 'an earlier delay does not count',
    from: 'if due < state.due then',
    to: 'if due > state.due then',
    caughtBy: 'delay.earlier.moves',
  },
  {
    script: 'add',
    name: 'an add that changes nothing takes a token',
    from: 'if outcome ~= UNCHANGED then chargeBuckets(reservations) end',
    to: 'chargeBuckets(reservations)',
    caughtBy: 'bucket.unchanged.free',
  },
  {
    script: 'add',
    name: 'a delay of a batch applies to every key after it',
    from: 'if text ~= lastText then',
    to: "if lastText == '' then",
    caughtBy: 'batch.modes.own',
  },
  {
    script: 'add',
    name: 'an add of a key with two runs to come counts as another run',
    from: 'if state.later == inf then outcome = ADDED end',
    to: 'outcome = ADDED',
    caughtBy: 'table.add.later+last',
  },
  {
    script: 'add',
    name: 'the short reply is used for a part of a millisecond',
    from: 'due >= 0 and due % 1 == 0\nend',
    to: 'due >= 0\nend',
    caughtBy: 'add.waiting.due-at',
  },
  {
    script: 'claim',
    name: 'a key that has crashed is not alone',
    from: 'isCut = true\n      if #chosen > 0 then break end',
    to: '',
    caughtBy: 'crash.alone.whole',
  },
  {
    script: 'claim',
    name: 'keys that fell due stay delayed',
    from: "if moveDue(math.max(limit, 250)) then return none(1, '') end",
    to: '',
    caughtBy: 'delay.exactly-due',
  },
  {
    script: 'claim',
    name: 'a paused queue hands out keys',
    from: 'if isPaused or not version then return none',
    to: 'if not version then return none',
    caughtBy: 'pause.claims-nothing',
  },
  {
    script: 'claim',
    name: 'a batch has one token',
    from: 'token + index, leaseUntil, due, inf',
    to: 'firstToken, leaseUntil, due, inf',
    caughtBy: 'batch.largest',
  },
  {
    script: 'claim',
    name: 'keys come that were not due by then',
    from: 'elseif not dueBy or due <= dueBy then',
    to: 'elseif true then',
    caughtBy: 'delay.due-by',
  },
  {
    script: 'claim',
    name: 'the items of a slice belong to other keys',
    from: 'items[itemNames[first + index - 1]] = text',
    to: 'items[itemNames[#itemNames - first - index + 2]] = text',
    caughtBy: 'item.batch.own',
  },
  {
    script: 'claim',
    name: 'the second run is forgotten',
    from: 'if later == inf or later <= now then\n      state.claimedLater',
    to: 'if true then\n      state.claimedLater',
    caughtBy: 'delay.client-go.add-then-delay',
  },
  {
    script: 'adopt',
    name: 'claims of other requests are found',
    from: 'if state.claim == claimNumber and state.token ~= 0 then',
    to: 'if state.token ~= 0 then',
    caughtBy: 'adopt.claims',
  },
  {
    script: 'adopt',
    name: 'only the first held keys are looked at',
    from: 'if #found == looksMax * 2 then',
    to: 'if false then',
    caughtBy: 'size.adopt',
  },
  {
    script: 'change',
    name: 'a key that is ready is moved to the tail by runNow',
    from: 'if state.due == inf or state.due <= now then return false end',
    to: 'if state.due == inf then return false end',
    caughtBy: 'run-now.ready.unchanged',
  },
  {
    script: 'change',
    name: 'a parked key returns to its old position',
    from: 'if state.token == 0 and state.due <= now then\n    state.ready = now\n    state.seq = number\n  end\n  return true',
    to: 'return true',
    caughtBy: 'unpark.tail',
  },
  {
    script: 'change',
    name: 'a cancelled run leaves its trace context',
    from: 'state.later = inf\n  state.trace = nil',
    to: 'state.later = inf',
    caughtBy: 'trace.cancel',
  },
  {
    script: 'change',
    name: 'remove keeps the failures',
    from: 'local hadFailures = forget(state)',
    to: 'local hadFailures = false',
    caughtBy: 'remove.waiting',
  },
  {
    script: 'counts',
    name: 'a pause is not reported',
    from: 'return answer(isPaused and 1 or 0, reply(oldest), ...)',
    to: 'return answer(0, reply(oldest), ...)',
    caughtBy: 'pause.counts',
  },
  {
    script: 'counts',
    name: 'a key that fell due still counts as delayed',
    from: "local dueDelayed = call('ZCOUNT', delayedKey, '-inf', now)",
    to: 'local dueDelayed = 0',
    caughtBy: 'counts.follow-time',
  },
  {
    script: 'drop',
    name: 'a held key is dropped',
    from: 'if state.token ~= 0 then return false end',
    to: 'if state.token ~= 0 then return true end',
    caughtBy: 'transfer.drop.held',
  },
  {
    script: 'drop',
    name: 'a key that was added again is dropped',
    from: 'and state.seq == row.seq and state.priority == row.priority',
    to: '',
    caughtBy: 'transfer.drop.changed',
  },
  {
    script: 'expire',
    name: 'a lease that has not expired is ended',
    from: 'or state.lease > now or now < graceUntil',
    to: 'or now < graceUntil',
    caughtBy: 'lease.end.not-expired',
  },
  {
    script: 'expire',
    name: 'no crash is counted',
    from: 'state.crashes = state.crashes + 1 end',
    to: 'state.crashes = state.crashes end',
    caughtBy: 'lease.end.returns',
  },
  {
    script: 'finish',
    name: 'a retry does not look at the token',
    from: 'if state.token ~= token or token == 0 then',
    to: 'if state.token == 0 or token == 0 then',
    caughtBy: 'fence.stale.retry',
  },
  {
    script: 'finish',
    name: 'done does not look at the token',
    from: " and unpackRow('>I7', row, 4) == token then",
    to: ' then',
    caughtBy: 'fence.forged',
  },
  {
    script: 'finish',
    name: 'a released key goes to the tail',
    from: 'else\n    state.ready = state.claimedReady\n    state.seq = state.claimedSeq',
    to: 'else\n    state.ready = now\n    state.seq = number',
    caughtBy: 'order.release.old-position',
  },
  {
    script: 'finish',
    name: 'a retry counts no failure',
    from: 'local function retry(state, delayMs, priority, number)\n  countFailure(state)',
    to: 'local function retry(state, delayMs, priority, number)',
    caughtBy: 'retry.counts',
  },
  {
    script: 'finish',
    name: 'a key that was added again while it was held is deleted',
    from: 'local isBare = flags == IS_HELD or',
    to: "local isBare = how == 'd' or how == 'f' or flags == IS_HELD or",
    caughtBy: 'done.dirty.requeues',
  },
  {
    script: 'history',
    name: 'failed runs are looked for among the steps',
    from: "== 'steps' and KEYS[16] or KEYS[17]",
    to: "== 'steps' and KEYS[16] or KEYS[16]",
    caughtBy: 'failed-runs.kept',
  },
  {
    script: 'importBuckets',
    name: 'a bucket that is there is replaced',
    from: "replies[index] = call('HSETNX', bucketsKey, name, argument())",
    to: "call('HSET', bucketsKey, name, argument())\n  replies[index] = 1",
    caughtBy: 'transfer.buckets',
  },
  {
    script: 'import',
    name: 'a parked row parks nothing',
    from: 'state.parked = state.parked or row.parked',
    to: '',
    caughtBy: 'transfer.import.parks',
  },
  {
    script: 'import',
    name: 'the lower priority wins',
    from: 'wasPending and math.max(state.priority, row.priority)',
    to: 'wasPending and math.min(state.priority, row.priority)',
    caughtBy: 'transfer.import.merges',
  },
  {
    script: 'import',
    name: 'a stored item is replaced',
    from: 'if isReplay and not isNew and isLater then',
    to: 'if not isNew then',
    caughtBy: 'transfer.import.item-stays',
  },
  {
    script: 'list',
    name: 'errors are not listed',
    from: "state.hasError and call('HGET', errorsKey, key) or false",
    to: 'false',
    caughtBy: 'retry.error.kept',
  },
  {
    script: 'list',
    name: 'a page begins at the first key',
    from: 'local from = argument()\n  names',
    to: "local from = argument() and '-'\n  names",
    caughtBy: 'list.prefix',
  },
  {
    script: 'overview',
    name: 'workers that have gone are listed',
    from: 'if seen and tonumber(seen) >= now - withinMs then',
    to: 'if seen then',
    caughtBy: 'workers.recent',
  },
  {
    script: 'overview',
    name: 'a paused queue without keys is not there',
    from: 'local isThere = #workers > 0 or isPaused or',
    to: 'local isThere = #workers > 0 or',
    caughtBy: 'size.queues.paused',
  },
  {
    script: 'pause',
    name: 'a queue is not resumed',
    from: "setMeta('paused', wanted)",
    to: "setMeta('paused', '1')",
    caughtBy: 'pause.claims-nothing',
  },
  {
    script: 'purge',
    name: 'held keys lose their holder',
    from: "writeAll('HSET', rowsKey, cells, 2000)",
    to: '',
    caughtBy: 'purge.everything-not-held',
  },
  {
    script: 'purge',
    name: 'the next run of a held key stays',
    from: 'local hadPending = cancel(state)',
    to: 'local hadPending = false',
    caughtBy: 'purge.everything-not-held',
  },
  {
    script: 'renew',
    name: 'the token is not looked at',
    from: 'if state.token ~= tokens[index] or state.token == 0 then',
    to: 'if state.token == 0 then',
    caughtBy: 'fence.stale.renew',
  },
  {
    script: 'renew',
    name: 'a lease is shortened',
    from: 'if leaseUntil > state.lease then',
    to: 'if leaseUntil ~= state.lease then',
    caughtBy: 'lease.renew.never-shortens',
  },
  {
    script: 'tick',
    name: 'the end of a lease is no reason to look again',
    from: 'local nextAt = math.min(nextDue, firstLease)',
    to: 'local nextAt = nextDue',
    caughtBy: 'tick.next.lease-end',
  },
  {
    script: 'tick',
    name: 'failures that have not expired are swept',
    from: "now - failuresExpireMs, 'LIMIT'",
    to: "now, 'LIMIT'",
    caughtBy: 'tick.sweeps.only-stale',
  },
  {
    script: 'tick',
    name: 'each tick sets the start time of a worker again',
    from: "local started = registered and string.match(registered, '^(%S+) ') or",
    to: 'local started =',
    caughtBy: 'workers.registered',
  },
  {
    script: 'tick',
    name: 'workers that have gone are never deleted',
    from: 'tonumber(seen) < now - workerMsMax then gone',
    to: 'false then gone',
    caughtBy: 'workers.day.replaced',
  },
  {
    script: 'tokens',
    name: 'raising lowers',
    from: 'if floor and floor > lastToken then',
    to: 'if floor then',
    caughtBy: 'transfer.tokens.raise',
  },
]

test('every script is broken in one place at least', () => {
  const broken = new Set(breaks.map(({ script }) => script))
  expect(Object.keys(scriptTexts).filter((name) => !broken.has(name as ScriptName))).toEqual([])
})

/** Replaces a script until the test has finished. */
function putBack({ script, from, to }: Break): void {
  const all = scripts as Record<ScriptName, Script>
  const whole = scripts[script]
  // Scripts are sent without indents.
  const parts = whole.text.split(from.replaceAll(/\n +/g, '\n'))
  expect(parts, 'the script has the text once').toHaveLength(2)
  const text = parts.join(to)
  all[script] = { text, sha: createHash('sha1').update(text).digest('hex') }
  onTestFinished(() => {
    all[script] = whole
  })
}

describe.skipIf(!needs('redis-server', hasRedis))('on one server', () => {
  let server: RedisProcess

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(() => server.dispose())

  const subjects = subjectsOn(() => ({ url: server.url }))

  test.each(breaks)('$script: $name: $caughtBy notices', async (each) => {
    const chosen = allCases.find(({ id }) => id === each.caughtBy)
    expect(chosen, 'the case').toBeDefined()
    putBack(each)
    await server.command('FLUSHALL')
    const { verdict } = await runCase(chosen!, subjects, { timeoutMs: 20_000, hintMs: 500 })
    expect(verdict).toBe('failed')
  })
})
