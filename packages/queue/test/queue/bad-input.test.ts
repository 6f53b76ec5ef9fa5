import { describe, expect, test } from 'vitest'
import type { Closes, RateLimitingQueue } from '../../src/index.ts'
import { refusal } from '../support/refusal.ts'
import { drainKeys, holding, Scene, setups, take } from '../support/setups.ts'

/** Calls a verb with values that a program without types might pass. */
type Call = (queue: RateLimitingQueue<string>) => unknown

/** The defect of a call, the call, and the parameter that the error must name. */
type Wrong = readonly [what: string, call: Call, parameter: string]

const notObjects = [null, 5, 'text', [], true]
const notPriorities = ['1', Number.NaN, 0.5, 1_001, -1_001, Infinity, null, {}]
const notSignals = [null, 5, {}, new AbortController()]
const notDelays = [undefined, null, '5', Number.NaN, Infinity, -Infinity, 10 * 366 * 86_400_000, {}]

/** The error of bad input. */
type Refused = Error & { readonly code?: string; readonly parameter?: string }

function any(value: unknown): never {
  return value as never
}

function wrongOptions(verb: string, call: (options: never) => Call): Wrong[] {
  return [
    ...notObjects.map(
      (bad): Wrong => [`${verb} options ${String(bad)}`, call(any(bad)), 'options'],
    ),
    [`${verb} with an unknown option`, call(any({ prioritty: 1 })), 'prioritty'],
  ]
}

function wrongPriorities(verb: string, call: (options: never) => Call): Wrong[] {
  return notPriorities.map(
    (priority): Wrong => [
      `${verb} priority ${String(priority)}`,
      call(any({ priority })),
      'priority',
    ],
  )
}

function wrongSignals(verb: string, call: (options: never) => Call): Wrong[] {
  return notSignals.map(
    (signal): Wrong => [`${verb} signal ${String(signal)}`, call(any({ signal })), 'signal'],
  )
}

const adds: [string, (options: never) => Call][] = [
  ['add', (options) => (queue) => queue.add('x', options)],
  ['addMany', (options) => (queue) => queue.addMany(['x'], options)],
  ['addAfter', (options) => (queue) => queue.addAfter('x', 5, options)],
  ['addRateLimited', (options) => (queue) => queue.addRateLimited('x', options)],
]

const waits: [string, (options: never) => Call][] = [
  ['get', (options) => (queue) => queue.get(options)],
  ['getMany', (options) => (queue) => queue.getMany(1, options)],
  ['shutDownWithDrain', (options) => (queue) => queue.shutDownWithDrain(options)],
]

const finishes: [string, (options: never) => Call][] = [
  ['done', (options) => (queue) => queue.done('held', options)],
  ['doneMany', (options) => (queue) => queue.doneMany([], options)],
]

const notItems: readonly unknown[] = [undefined, '', 'a\0b', '\ud800', 'x'.repeat(513), () => 1]

const wrong: Wrong[] = [
  ...adds.flatMap(([verb, call]) => [...wrongOptions(verb, call), ...wrongPriorities(verb, call)]),
  ...waits.flatMap(([verb, call]) => [...wrongOptions(verb, call), ...wrongSignals(verb, call)]),
  ...finishes.flatMap(([verb, call]) => [
    ...wrongOptions(verb, call),
    ...[null, 1, 'true'].map(
      (forget): Wrong => [`${verb} forget ${forget}`, call(any({ forget })), 'forget'],
    ),
  ]),
  ...notItems.flatMap((item): Wrong[] => [
    [`add ${String(item)}`, (queue) => queue.add(any(item)), 'item'],
    [`addMany ${String(item)}`, (queue) => queue.addMany(['x', any(item)]), 'items[1]'],
    [`addAfter ${String(item)}`, (queue) => queue.addAfter(any(item), 5), 'item'],
    [`addRateLimited ${String(item)}`, (queue) => queue.addRateLimited(any(item)), 'item'],
    [`done ${String(item)}`, (queue) => queue.done(any(item)), 'item'],
    [`doneMany ${String(item)}`, (queue) => queue.doneMany([any(item)]), 'item'],
    [`cancel ${String(item)}`, (queue) => queue.cancel(any(item)), 'item'],
    [`forget ${String(item)}`, (queue) => queue.forget(any(item)), 'item'],
    [`numRequeues ${String(item)}`, (queue) => queue.numRequeues(any(item)), 'item'],
  ]),
  ...[undefined, null, 'abc', { length: 1 }, new Set(['x'])].flatMap((items): Wrong[] => [
    [`addMany ${String(items)}`, (queue) => queue.addMany(any(items)), 'items'],
    [`doneMany ${String(items)}`, (queue) => queue.doneMany(any(items)), 'helds'],
  ]),
  ...notDelays.map(
    (ms): Wrong => [`addAfter ms ${String(ms)}`, (queue) => queue.addAfter('x', any(ms)), 'ms'],
  ),
  ...[null, 1, 'later', 'LATEST'].map(
    (when): Wrong => [
      `addAfter when ${when}`,
      (queue) => queue.addAfter('x', 5, any({ when })),
      'when',
    ],
  ),
  ...[null, -1, '5', Number.NaN, Infinity].map(
    (maxWaitMs): Wrong => [
      `addAfter maxWaitMs ${maxWaitMs}`,
      (queue) => queue.addAfter('x', 5, any({ when: 'latest', maxWaitMs })),
      'maxWaitMs',
    ],
  ),
  [
    'addAfter maxWaitMs without latest',
    (queue) => queue.addAfter('x', 5, { maxWaitMs: 5 }),
    'maxWaitMs',
  ],
  ...[undefined, null, 0, -1, 1.5, 1_001, Number.NaN, '3'].map(
    (n): Wrong => [`getMany ${String(n)}`, (queue) => queue.getMany(any(n)), 'n'],
  ),
  ...wrongOptions('close', (options) => (queue) => queue.close(options)),
  ...[null, -1, '5', Number.NaN, Infinity, 86_400_001].map(
    (graceMs): Wrong => [
      `close graceMs ${graceMs}`,
      (queue) => queue.close(any({ graceMs })),
      'graceMs',
    ],
  ),
  // The member of `Closes` that stopOnSignals calls.
  ...[null, '5', 10n, Number.NaN, Infinity].map(
    (leftMs): Wrong => [
      `close leftMs ${leftMs}`,
      (queue) => (queue as Closes).close({ graceMs: 5 }, any(leftMs)),
      'leftMs',
    ],
  ),
]

/** The defect in the rejection of bad input, if any. */
async function problemOf(call: () => unknown, parameter: string): Promise<string | undefined> {
  let promise: unknown
  try {
    promise = call()
  } catch (error) {
    return `threw ${String(error)}`
  }
  if (!(promise instanceof Promise)) return 'gave no promise'
  const error = (await refusal(promise).catch((accepted) => accepted)) as Refused
  if (!(error instanceof TypeError || error instanceof RangeError)) return String(error)
  if (error.code !== 'ERR_INVALID_INPUT') return `has code ${error.code}`
  return error.parameter === parameter ? undefined : `names ${error.parameter}`
}

describe.each(setups)('bad input over $way', (setup) => {
  test('rejects with a typed error that names the parameter, and changes nothing', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.add('held')
    const held = await take(queue)
    await queue.add('waiting')
    const before = [await scene.row('held'), await scene.row('waiting')]
    const problems: string[] = []
    for (const [what, call, parameter] of wrong) {
      const problem = await problemOf(() => call(queue), parameter)
      if (problem !== undefined) problems.push(`${what} ${problem}`)
    }
    expect(problems).toEqual([])
    expect([await scene.row('held'), await scene.row('waiting')]).toEqual(before)
    expect(await scene.states()).toEqual({ held: 'processing', waiting: 'ready' })
    expect(queue.shuttingDown).toBe(false)
    expect(await held.done()).toBe('idle')
    expect(await drainKeys(queue)).toEqual(['waiting'])
  })

  test('doneMany with one bad entry finishes none', async () => {
    const { scene, queue, held } = await holding(setup)
    expect(await refusal(queue.doneMany([held, any(undefined)]))).toMatchObject({
      code: 'ERR_INVALID_INPUT',
    })
    expect(await scene.states()).toEqual({ a: 'processing' })
    expect(await held.done()).toBe('idle')
  })

  test('held.done with bad options rejects, and the key stays held', async () => {
    const { held } = await holding(setup)
    for (const options of [null, 5, { forgt: true }, { forget: 1 }]) {
      expect(await refusal(held.done(any(options)))).toMatchObject({ code: 'ERR_INVALID_INPUT' })
    }
    expect(await held.done()).toBe('idle')
  })

  test('addSoon never throws: onError is called with its errors', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    queue.addSoon(any(undefined))
    queue.addSoon('a', any({ priority: 'high' }))
    queue.addSoon('a', any(null))
    await scene.quiet()
    expect(scene.takeErrors()).toEqual(Array(3).fill('ERR_INVALID_INPUT'))
    expect(await queue.len()).toBe(0)
  })
})
