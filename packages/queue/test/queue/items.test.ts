import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { refusal } from '../support/refusal.ts'
import { Scene, setups, take } from '../support/setups.ts'

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

const shapes: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1.5,
  1e300,
  'text',
  'json:"text"',
  'json:',
  [],
  [1, [2, [3]]],
  {},
  { a: 1, b: [true, null], c: { d: 'e' } },
  { __proto__x: 1, 'with space': '\u2028' },
]

describe.each(setups)('items over $way', (setup) => {
  test('Items: every JSON shape comes back equal', async () => {
    const queue = new Scene(setup).queue<Json>()
    for (const item of shapes) {
      expect(await queue.add(item)).toBe('added')
      const held = await take(queue)
      expect(held.item).toEqual(item)
      expect(await queue.done(item)).toBe('idle')
    }
  })

  test('Items: any JSON comes back equal, under a key of its own', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue<Json>({ keyOf: (item) => JSON.stringify(item).slice(0, 400) })
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
        const item = JSON.parse(JSON.stringify(value)) as Json
        await queue.add(item)
        const held = await take(queue)
        expect(held.item).toEqual(item)
        await held.done()
      }),
      { numRuns: 40 },
    )
  })

  test('Items: the key of a string is the string; of anything else, its canonical JSON', async () => {
    const queue = new Scene(setup).queue<Json>()
    const keys: [Json, string][] = [
      ['plain', 'plain'],
      ['json:x', 'json:"json:x"'],
      [1, 'json:1'],
      [{ b: 1, a: 2 }, 'json:{"a":2,"b":1}'],
    ]
    for (const [item, key] of keys) {
      await queue.add(item)
      const held = await take(queue)
      expect(held.key).toBe(key)
      await held.done()
    }
  })

  test('Items: equal items are one key, whatever the order of their members', async () => {
    const queue = new Scene(setup).queue<Json>()
    await queue.add({ a: 1, b: 2 })
    expect(await queue.add({ b: 2, a: 1 })).toBe('unchanged')
    expect(await queue.add(1)).toBe('added')
    expect(await queue.add('1')).toBe('added')
    expect(await queue.len()).toBe(3)
  })

  test('Items: an item that is handed out is a value of its own', async () => {
    const queue = new Scene(setup).queue<{ list: number[] }>({ keyOf: () => 'k' })
    const item = { list: [1] }
    const adding = queue.add(item)
    item.list.push(2)
    await adding
    item.list.push(3)
    const held = await take(queue)
    expect(held.item).toEqual({ list: [1] })
    held.item.list.push(4)
    await held.release()
    const again = await take(queue)
    expect(again.item).toEqual({ list: [1] })
    expect(again.item).not.toBe(held.item)
    expect(again.item).toBe(again.item)
  })

  test('Items: a waiting key keeps the item added last', async () => {
    const queue = new Scene(setup).queue<{ n: number }>({ keyOf: () => 'k' })
    await queue.add({ n: 1 })
    expect(await queue.add({ n: 2 })).toBe('unchanged')
    expect((await take(queue)).item).toEqual({ n: 2 })
  })

  test('Items: adds made together keep the item of the last', async () => {
    const queue = new Scene(setup).queue<{ n: number }>({ keyOf: () => 'k' })
    const priorities = [0, 3, 0, 5, 5]
    await Promise.all(priorities.map((priority, n) => queue.add({ n }, { priority })))
    const held = await take(queue)
    expect([held.item, held.priority]).toEqual([{ n: 4 }, 5])
  })

  test('Items: a held key keeps the item added last for its next run', async () => {
    const queue = new Scene(setup).queue<{ n: number }>({ keyOf: () => 'k' })
    await queue.add({ n: 1 })
    const held = await take(queue)
    expect(held.item).toEqual({ n: 1 })
    await queue.add({ n: 2 })
    expect(held.item).toEqual({ n: 1 })
    await held.done()
    expect((await take(queue)).item).toEqual({ n: 2 })
  })

  test('Held: finishing never writes the item', async () => {
    const queue = new Scene(setup).queue<{ n: number }>({ keyOf: () => 'k' })
    await queue.add({ n: 1 })
    const held = await take(queue)
    held.item.n = 99
    await queue.add({ n: 2 })
    await held.release()
    expect((await take(queue)).item).toEqual({ n: 2 })
  })

  test('Items: values that JSON cannot round-trip are rejected, with their path, and nothing is added', async () => {
    const queue = new Scene(setup).queue<unknown>()
    const bad: [unknown, string][] = [
      [undefined, 'item'],
      [Number.NaN, 'item'],
      [new Date(0), 'item'],
      [{ a: { b: undefined } }, 'item.a.b'],
      [{ a: [1, () => 1] }, 'item.a[1]'],
      [[1n], 'item[0]'],
      [new Map(), 'item'],
    ]
    for (const [item, parameter] of bad) {
      expect(await refusal(queue.add(item))).toMatchObject({
        code: 'ERR_INVALID_INPUT',
        parameter,
      })
    }
    expect(await queue.len()).toBe(0)
    expect(await queue.add('good')).toBe('added')
  })

  test('Items: a key may have 512 bytes, an item 64 kB', async () => {
    const plain = new Scene(setup).queue()
    expect(await plain.add('k'.repeat(512))).toBe('added')
    expect(await refusal(plain.add('k'.repeat(513)))).toMatchObject({ parameter: 'item' })
    expect(await refusal(plain.add('é'.repeat(257)))).toMatchObject({ parameter: 'item' })
    const keyed = new Scene(setup).queue<{ text: string }>({ keyOf: () => 'k' })
    const text = 'x'.repeat(65_536 - '{"text":""}'.length)
    expect(await keyed.add({ text })).toBe('added')
    expect(await refusal(keyed.add({ text: `${text}x` }))).toMatchObject({ parameter: 'item' })
    expect((await take(keyed)).item.text).toBe(text)
  })

  test('Items: a keyOf that gives no key is an error', async () => {
    const keyOf = (item: string): string => {
      if (item === 'throws') throw new Error('no key')
      return (item === 'number' ? 5 : item === 'empty' ? '' : item) as string
    }
    const queue = new Scene(setup).limited({ keyOf })
    const refusedBy = async (item: string): Promise<void> => {
      const calls = [
        queue.add(item),
        queue.addMany(['fine', item]),
        queue.addAfter(item, 5),
        queue.addRateLimited(item),
        queue.done(item),
        queue.cancel(item),
        queue.forget(item),
        queue.numRequeues(item),
      ]
      for (const [at, call] of calls.entries()) {
        expect(await refusal(call)).toMatchObject({
          code: 'ERR_INVALID_INPUT',
          parameter: at === 1 ? 'keyOf(items[1])' : 'keyOf(item)',
        })
      }
    }
    for (const item of ['throws', 'number', 'empty']) await refusedBy(item)
    expect(await queue.len()).toBe(0)
    expect(await queue.add('fine')).toBe('added')
  })
})

test.each(setups)('an error of addMany says which item is wrong over $way', async (setup) => {
  const queue = new Scene(setup).queue<Json>()
  for (const [wrong, problem] of [
    [{ id: Number.NaN }, /^items\[1\]\.id must .+ \[ERR_INVALID_INPUT\]$/],
    ['k'.repeat(513), /^items\[1\] must be at most 512 bytes/],
  ] as const) {
    const error = await refusal(queue.addMany(['fine', wrong, wrong]))
    expect(String((error as Error).message)).toMatch(problem)
    expect(await refusal(queue.addMany([wrong]))).toMatchObject({
      parameter: expect.stringMatching(/^item(\.id)?$/),
    })
  }
  expect(await queue.len()).toBe(0)
})
