import { describe, expect, test } from 'vitest'
import { refusal } from '../support/refusal.ts'
import { drainKeys, Scene, setups, take } from '../support/setups.ts'

describe.each(setups)('addMany over $way', (setup) => {
  test('adds in order, and answers for each', async () => {
    const queue = new Scene(setup).queue()
    await queue.add('b')
    expect(await queue.addMany(['a', 'b', 'c'])).toEqual(['added', 'unchanged', 'added'])
    expect(await drainKeys(queue)).toEqual(['b', 'a', 'c'])
  })

  test('the same key twice is one run', async () => {
    const queue = new Scene(setup).queue()
    expect(await queue.addMany(['a', 'b', 'a'])).toEqual(['added', 'added', 'unchanged'])
    expect(await drainKeys(queue)).toEqual(['a', 'b'])
  })

  test('an array with holes is refused, and nothing of it is added', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    // biome-ignore lint/suspicious/noSparseArray: this is about holes.
    for (const [at, items] of [new Array<string>(3), ['a', , 'c'] as string[]].entries()) {
      expect(await refusal(queue.addMany(items))).toMatchObject({
        code: 'ERR_INVALID_INPUT',
        parameter: `items[${at}]`,
      })
    }
    expect(await scene.states()).toEqual({})
  })

  test('doneMany of an array with holes is refused, and nothing of it is finished', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    const helds = [await take(queue)]
    helds[2] = helds[0] as (typeof helds)[0]
    expect(await refusal(queue.doneMany(helds))).toMatchObject({
      code: 'ERR_INVALID_INPUT',
      parameter: 'item',
    })
    expect(await scene.states()).toEqual({ a: 'processing' })
  })

  test('with a keyOf, holes are items like others that are not JSON', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue<string>({ keyOf: () => 'k' })
    expect(await refusal(queue.addMany(new Array<string>(2)))).toMatchObject({
      code: 'ERR_INVALID_INPUT',
    })
    const answers = await queue.doneMany(new Array<never>(2))
    expect(answers).toEqual(['lost', 'lost'])
  })

  test('nothing to add is nothing', async () => {
    const queue = new Scene(setup).queue()
    expect(await queue.addMany([])).toEqual([])
    expect(await queue.len()).toBe(0)
  })

  test('the priority is that of all', async () => {
    const queue = new Scene(setup).queue()
    await queue.add('x')
    await queue.addMany(['a', 'b'], { priority: 1 })
    expect(await drainKeys(queue)).toEqual(['a', 'b', 'x'])
  })

  test('more than one step of a driver takes, in order', async () => {
    const queue = new Scene(setup).queue()
    const keys = Array.from({ length: 1_000 }, (_, n) => `key-${n}`)
    await queue.addMany(keys)
    await queue.addMany(keys.map((key) => `${key}-more`))
    const held = [...(await queue.getMany(1_000)), ...(await queue.getMany(1_000))]
    expect(held.map(({ key }) => key)).toEqual([...keys, ...keys.map((key) => `${key}-more`)])
    expect(new Set(await queue.doneMany(held))).toEqual(new Set(['idle']))
  })

  test('bad input: one bad item refuses all, and nothing is added', async () => {
    const queue = new Scene(setup).queue()
    const bad = await refusal(queue.addMany(['a', '', 'b']))
    expect(bad).toMatchObject({ code: 'ERR_INVALID_INPUT', parameter: 'items[1]' })
    expect(await queue.len()).toBe(0)
    expect(await queue.addMany(['a'])).toEqual(['added'])
  })

  test('an array that changes afterwards changes nothing', async () => {
    const queue = new Scene(setup).queue()
    const items = ['a', 'b']
    const adding = queue.addMany(items)
    items[0] = 'x'
    items.push('y')
    await adding
    expect(await drainKeys(queue)).toEqual(['a', 'b'])
  })

  test('keys of a full queue are refused with an error, and those that fit are kept', async () => {
    const queue = new Scene(setup).queue({ maxPending: 2 })
    const full = await refusal(queue.addMany(['a', 'b', 'c']))
    expect(full).toMatchObject({ code: 'ERR_QUEUE_FULL' })
    // Two of the keys were stored.
    expect((full as Error).message).toContain('which is maxPending')
    expect(await drainKeys(queue)).toEqual(['a', 'b'])
  })

  test('is refused once all its keys are answered: those that fit have been added by then', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying({ maxPending: 1 })
    await queue.addAfter('a', 1_000)
    // A key that occurs twice travels twice, so that its second add comes after the refusal.
    void queue.addAfter('a', 500)
    const full = await refusal(queue.addMany(['b', 'a']))
    expect(full).toMatchObject({ code: 'ERR_QUEUE_FULL' })
    expect(await scene.states()).toEqual({ a: 'ready' })
  })
})

describe.each(setups)('getMany over $way', (setup) => {
  test('waits for one, and takes at most n', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const waiting = queue.getMany(5)
    await scene.quiet()
    await queue.add('a')
    expect((await waiting).map(({ key }) => key)).toEqual(['a'])
    await queue.addMany(['b', 'c', 'd'])
    expect((await queue.getMany(2)).map(({ key }) => key)).toEqual(['b', 'c'])
    expect((await queue.getMany(2)).map(({ key }) => key)).toEqual(['d'])
  })

  test('gives [] once the queue is shut down and empty', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b', 'c'])
    await queue.shutDown()
    expect((await queue.getMany(2)).length).toBe(2)
    expect((await queue.getMany(2)).length).toBe(1)
    expect(await queue.getMany(2)).toEqual([])
  })

  test('waiters are answered in the order of their calls, each with at most its limit', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const first = queue.getMany(2)
    const second = queue.get()
    const third = queue.getMany(10)
    await scene.quiet()
    await queue.addMany(['a', 'b', 'c', 'd', 'e'])
    expect((await first).map(({ key }) => key)).toEqual(['a', 'b'])
    expect((await second)?.key).toBe('c')
    expect((await third).map(({ key }) => key)).toEqual(['d', 'e'])
  })

  test('Crashes: a key whose holders vanished twice comes alone', async () => {
    const scene = new Scene(setup, undefined)
    const queue = scene.queue()
    await queue.addMany(['a', 'bad', 'b', 'c'])
    await (await take(queue)).release()
    await crash(scene, 'bad')
    await crash(scene, 'bad')
    await queue.addMany(['d'])
    const taken: string[][] = []
    while ((await queue.len()) > 0) {
      const helds = await queue.getMany(10)
      taken.push(helds.map(({ key }) => key))
      await queue.doneMany(helds)
    }
    expect(taken.filter((keys) => keys.includes('bad'))).toEqual([['bad']])
    expect(taken.flat().sort()).toEqual(['a', 'b', 'bad', 'c', 'd'])
  })
})

/** Makes a holder vanish with a key, which comes back as crashed. */
async function crash(scene: Scene, key: string): Promise<void> {
  const { driver, clock } = scene
  await driver.open({ clock })
  const reply = await driver.claim('q', {
    limit: 10,
    holder: 'gone',
    claimId: 'gone',
    leaseMs: 100,
  })
  await clock.step(100)
  const options = { dedupe: 'client-go', failuresExpireMs: 1_000 } as const
  for (const claim of reply.claims) {
    if (claim.key === key) await driver.expire('q', [claim], { dedupe: 'client-go', maxCrashes: 5 })
    else {
      await driver.finish('q', [{ as: 'release', key: claim.key, token: claim.token }], options)
    }
  }
}
