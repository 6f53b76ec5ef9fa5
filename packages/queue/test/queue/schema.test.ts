import { describe, expect, test } from 'vitest'
import {
  createWorker,
  type Queue,
  type SchemaResult,
  type StandardSchema,
} from '../../src/index.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { refusal } from '../support/refusal.ts'
import { late, Scene, seen, setups, take } from '../support/setups.ts'

interface Order {
  readonly id: string
  readonly count: number
}

function validate(value: unknown): SchemaResult<Order> {
  const { id, count } = value as Order
  if (typeof count !== 'number') {
    return { issues: [{ message: 'must be a number', path: ['count'] }] }
  }
  return { value: { id, count: Math.trunc(count) } }
}

/** A validator that answers at once, or later, or as a test says. */
function schemaOf(
  check: (value: unknown) => SchemaResult<Order> | Promise<SchemaResult<Order>>,
): StandardSchema<Order> {
  return { '~standard': { version: 1, vendor: 'test', validate: check } }
}

const kinds = [
  { kind: 'sync', schema: schemaOf(validate) },
  { kind: 'async', schema: schemaOf(async (value) => await Promise.resolve(validate(value))) },
]
const cases = setups.flatMap((setup) => kinds.map((kind) => ({ ...setup, ...kind, setup })))

const keyOf = ({ id }: Order): string => id

describe.each(cases)('a $kind schema over $way', ({ setup, schema }) => {
  test('an item that does not match is refused at add, and nothing is added', async () => {
    const queue = new Scene(setup).limited<Order>({ keyOf, schema })
    const bad = { id: 'a', count: 'x' } as unknown as Order
    const calls = [
      queue.add(bad),
      queue.addMany([{ id: 'good', count: 1 }, bad]),
      queue.addAfter(bad, 5),
      queue.addRateLimited(bad),
    ]
    for (const [at, call] of calls.entries()) {
      const error = await refusal(call)
      const parameter = at === 1 ? 'items[1]' : 'item'
      expect(error).toMatchObject({ code: 'ERR_INVALID_INPUT', parameter })
      expect(String(error)).toContain('count: must be a number')
    }
    expect(await queue.len()).toBe(0)
    expect(await queue.add({ id: 'good', count: 1 })).toBe('added')
  })

  test('the item is stored, and the output of the schema is handed out', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue<Order>({ keyOf, schema })
    await queue.add({ id: 'a', count: 2.5 })
    expect((await scene.row('a'))?.item).toBe('{"count":2.5,"id":"a"}')
    expect((await take(queue)).item).toEqual({ id: 'a', count: 2 })
  })

  test('a stored item that does not match is parked, reported, and blocks no other key', async () => {
    const scene = new Scene(setup)
    const careless = scene.queue<Order>({ keyOf })
    const careful = scene.queue<Order>({ keyOf, schema })
    await careless.add({ id: 'bad', count: 'x' } as unknown as Order)
    await careless.add({ id: 'good', count: 1 })
    expect((await take(careful)).key).toBe('good')
    const row = await scene.row('bad')
    expect([row?.state, row?.failures]).toEqual(['parked', 1])
    expect(row?.lastError).toContain('must be a number')
    // The code is named once, at the end.
    expect(String(scene.errors[0])).toBe(
      'SluiceError: cannot hand out key "bad": item must match the schema: count: must be a number; it was parked [ERR_INVALID_INPUT]',
    )
    expect(scene.takeErrors()).toEqual(['ERR_INVALID_INPUT'])
  })

  test('a waiter keeps waiting when the item did not match', async () => {
    const scene = new Scene(setup)
    const careless = scene.queue<Order>({ keyOf })
    const careful = scene.queue<Order>({ keyOf, schema })
    const first = seen(careful.get())
    const second = seen(careful.getMany(5))
    await careless.add({ id: 'bad', count: 'x' } as unknown as Order)
    await scene.quiet()
    expect([first.state, second.state]).toEqual(['waiting', 'waiting'])
    await careless.add({ id: 'a', count: 1 })
    await scene.quiet()
    expect(first.value?.key).toBe('a')
    expect(second.state).toBe('waiting')
    await careful.shutDown()
    await scene.quiet()
    expect(second.value).toEqual([])
    scene.takeErrors()
  })

  test('getMany gives those of a batch that match', async () => {
    const scene = new Scene(setup)
    const careless = scene.queue<Order>({ keyOf })
    await careless.addMany([
      { id: 'a', count: 1 },
      { id: 'bad', count: 'x' } as unknown as Order,
      { id: 'b', count: 2 },
    ])
    const helds = await scene.queue<Order>({ keyOf, schema }).getMany(3)
    expect(helds.map(({ key }) => key)).toEqual(['a', 'b'])
    scene.takeErrors()
  })

  test('a validator that throws: the add rejects; a stored key is parked', async () => {
    const scene = new Scene(setup)
    const broken = schemaOf(() => {
      throw new Error('broken validator')
    })
    const careless = scene.queue<Order>({ keyOf })
    const queue = scene.queue<Order>({ keyOf, schema: broken })
    expect(String(await refusal(queue.add({ id: 'a', count: 1 })))).toContain('broken validator')
    await careless.add({ id: 'b', count: 1 })
    const waiting = seen(queue.get())
    await scene.quiet()
    expect(waiting.state).toBe('waiting')
    expect(await scene.states()).toEqual({ b: 'parked' })
    expect(scene.takeErrors().length).toBe(1)
  })
})

/** A schema whose answers a test gives one by one. */
function slowSchema(): { schema: StandardSchema<Order>; answer: (count: number) => void } {
  const waiting = new Map<number, () => void>()
  const schema = schemaOf(
    (value) =>
      new Promise((resolve) => {
        waiting.set((value as Order).count, () => resolve(validate(value)))
      }),
  )
  return { schema, answer: (count) => waiting.get(count)?.() }
}

describe.each(setups)('a slow schema over $way', (setup) => {
  test('one that never answers fails its own calls after timeoutMs, and no others', async () => {
    const time = fakeRealTime()
    const scene = new Scene(setup)
    const schema = schemaOf((value) => {
      if ((value as Order).id === 'stuck') return new Promise(() => undefined)
      return validate(value)
    })
    const queue = scene.queue<Order>({ keyOf, schema, timeoutMs: 1_000 })
    const stuck = [
      seen(queue.add({ id: 'stuck', count: 1 })),
      seen(
        queue.addMany([
          { id: 'with it', count: 1 },
          { id: 'stuck', count: 2 },
        ]),
      ),
    ]
    const next = [seen(queue.add({ id: 'a', count: 1 })), seen(queue.add({ id: 'b', count: 1 }))]
    await time.pass(900)
    expect(next.map(({ state }) => state)).toEqual(['waiting', 'waiting'])
    await time.pass(200)
    for (const { error } of stuck) {
      expect(error).toMatchObject({ code: 'ERR_TIMEOUT', retryable: true })
      expect(String(error)).toContain('the schema did not answer within timeoutMs')
    }
    expect(next.map(({ value }) => value)).toEqual(['added', 'added'])
    expect(Object.keys(await scene.states())).toEqual(['a', 'b'])
    // A key that is stored already is parked instead of being held for ever.
    const other = scene.queue<Order>({ keyOf })
    await other.add({ id: 'stuck', count: 1 }, { priority: 1 })
    const got = seen(queue.get())
    await time.pass(1_100)
    expect(got.value?.key).toBe('a')
    expect((await scene.states())['stuck']).toBe('parked')
    expect(scene.takeErrors()).toEqual(['ERR_TIMEOUT'])
  })

  test('adds take effect in the order of the calls, in whatever order they were checked', async () => {
    const scene = new Scene(setup)
    const { schema, answer } = slowSchema()
    const queue = scene.queue<Order>({ keyOf, schema })
    const adds = [
      queue.add({ id: 'a', count: 1 }),
      queue.add({ id: 'b', count: 2 }),
      queue.add({ id: 'a', count: 3 }),
    ]
    for (const count of [3, 2, 1]) {
      answer(count)
      await scene.quiet()
    }
    expect(await Promise.all(adds)).toEqual(['added', 'added', 'unchanged'])
    const careless = scene.queue<Order>({ keyOf })
    expect((await take(careless)).item).toEqual({ id: 'a', count: 3 })
    expect((await take(careless)).key).toBe('b')
  })

  test('addSoon before a shutdown is stored after it, also if it was still being checked', async () => {
    const scene = new Scene(setup)
    const { schema, answer } = slowSchema()
    const queue = scene.queue<Order>({ keyOf, schema })
    queue.addSoon({ id: 'a', count: 1 })
    await queue.shutDown()
    answer(1)
    await scene.quiet()
    expect(await scene.states()).toEqual({ a: 'ready' })
  })

  test('an aborted get gives back a key that was still being checked', async () => {
    const scene = new Scene(setup)
    const { schema, answer } = slowSchema()
    const careless: Queue<Order> = scene.queue<Order>({ keyOf })
    const queue = scene.queue<Order>({ keyOf, schema })
    await careless.add({ id: 'a', count: 1 })
    const controller = new AbortController()
    const waiting = seen(queue.get({ signal: controller.signal }))
    await scene.quiet()
    expect(await scene.states()).toEqual({ a: 'processing' })
    controller.abort(new Error('enough'))
    await scene.quiet()
    expect(String(waiting.error)).toContain('enough')
    answer(1)
    await scene.quiet()
    expect(await scene.states()).toEqual({ a: 'ready' })
  })

  test('a close gives back a key that was still being checked', async () => {
    const scene = new Scene(setup)
    const { schema, answer } = slowSchema()
    const queue = scene.queue<Order>({ keyOf, schema })
    await scene.queue<Order>({ keyOf }).add({ id: 'a', count: 1 })
    const one = seen(queue.get())
    await scene.quiet()
    const closing = queue.close()
    await scene.quiet()
    // At once, since the schema may never answer.
    expect(one).toEqual({ state: 'resolved', value: undefined })
    answer(1)
    await scene.quiet()
    await closing
    expect(await scene.states()).toEqual({ a: 'ready' })
  })
})

test('a worker that stops waits until a key that was still being checked is given back', async () => {
  const scene = new Scene(late)
  const { schema, answer } = slowSchema()
  const queue = scene.queue<Order>({ keyOf, schema })
  const started: string[] = []
  const worker = createWorker({ queue, handler: (_, { key }) => void started.push(key) })
  await scene.inner.add(
    'q',
    [{ key: 'a', item: '{"id":"a","count":1}', priority: 0, delayMs: 0 }],
    {
      dedupe: 'client-go',
      failuresExpireMs: 60_000,
    },
  )
  queue.wake()
  await scene.quiet()
  expect(await scene.states()).toEqual({ a: 'processing' })
  scene.late.hold('finish')
  const stopping = seen(worker.stop())
  answer(1)
  await scene.quiet()
  expect(stopping.state).toBe('waiting')
  scene.late.letGo('finish')
  await scene.quiet()
  expect(stopping.state).toBe('resolved')
  expect(await scene.states()).toEqual({ a: 'ready' })
  expect(started).toEqual([])
})

describe('a validator that does not answer as a validator does', () => {
  const nonsense = [undefined, null, 5, 'yes', true, [], {}, { issues: undefined }]
  const answers = nonsense.flatMap((answer) => [answer, Promise.resolve(answer)])

  test.each(answers)('%o is refused at add, naming the schema', async (answer) => {
    const queue = new Scene(late).queue<Order>({ keyOf, schema: schemaOf(() => answer as never) })
    const error = await refusal(queue.add({ id: 'a', count: 1 }))
    expect(error).toMatchObject({ code: 'ERR_INVALID_INPUT', parameter: 'schema' })
    expect(await queue.len()).toBe(0)
  })

  test('issues that are null are none', async () => {
    const answer = { issues: null, value: { id: 'a', count: 1 } } as never
    const queue = new Scene(late).queue<Order>({ keyOf, schema: schemaOf(() => answer) })
    expect(await queue.add({ id: 'a', count: 1 })).toBe('added')
  })

  test('a promise of another library is awaited', async () => {
    const answer = (value: unknown) => {
      // biome-ignore lint/suspicious/noThenProperty: this is about an object with one.
      return { then: (use: (result: unknown) => void) => use(validate(value)) } as never
    }
    const queue = new Scene(late).queue<Order>({ keyOf, schema: schemaOf(answer) })
    expect(await queue.add({ id: 'a', count: 1 })).toBe('added')
    const bad = { id: 'b', count: 'x' } as unknown as Order
    expect(await refusal(queue.add(bad))).toMatchObject({ parameter: 'item' })
  })
})
