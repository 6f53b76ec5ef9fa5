/** What `queue.within` promises in a transaction of any library. */
import type { RateLimitingQueue } from 'sluice'
import { expect, test } from 'vitest'
import type { Orm } from './orm.ts'

/** Everything that a library may take for something else. */
const oddKeys: readonly string[] = [
  `it's ? ?? $1 $2 :name ::text {a} {} "b" \\ \\? \\' %s %L ; -- /* */`,
  'zwölf 🎉 \u2028 $$ $x$ @p0 #{a} $'.concat('{b} [c]'),
  "E'\\x27'",
]

/** A queue whose keys are in the schema `orm`, and a library on the same database. */
export interface Setup {
  readonly queue: RateLimitingQueue<string>
  readonly library: Pick<Orm, 'transaction' | 'outside'>
  /** The rows that a statement answers with. */
  query(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Whether the queue works on the connection of the transaction, so that it waits for its end. */
  readonly isOneConnection: boolean
}

/** The ids of the orders that were committed. */
export async function orderIds({ query }: Pick<Setup, 'query'>): Promise<unknown[]> {
  return (await query('select id from orders order by id')).map(({ id }) => id)
}

/** Declares the tests; `setup` is asked within each for what was set up before it. */
export function testTransactions(setup: () => Setup): void {
  test('a row and its keys are there together, after the commit', async () => {
    const { queue, library, query, isOneConnection } = setup()
    const waiting = queue.get()
    await library.transaction(async ({ within, insert }) => {
      await insert(1)
      expect(await within.add('order/1')).toBe('added')
      expect(await within.add('order/1', { priority: 5 })).toBe('moved')
      expect(await within.addMany(['order/2', 'order/1'])).toEqual(['added', 'unchanged'])
      expect(await within.addAfter('order/3', 60_000)).toBe('added')
      await insert(2)
      if (!isOneConnection) expect(await queue.len()).toBe(0)
    })
    expect(await orderIds({ query })).toEqual([1, 2])
    const held = await waiting
    expect(held?.item).toBe('order/1')
    expect(await queue.inspect.counts()).toMatchObject({ ready: 1, delayed: 1, processing: 1 })
    await held?.done()
  })

  test('a rollback leaves neither', async () => {
    const { queue, library, query } = setup()
    const rollsBack = library.transaction(async ({ within, insert }) => {
      await insert(1)
      await within.addMany(['order/1', 'order/2'])
      throw new Error('rolled back')
    })
    await expect(rollsBack).rejects.toThrow('rolled back')
    expect(await orderIds({ query })).toEqual([])
    expect(await queue.inspect.counts()).toMatchObject({ ready: 0, delayed: 0 })
  })

  test('keys come back as they were, whatever they contain', async () => {
    const { queue, library } = setup()
    await library.transaction(async ({ within }) => {
      expect(await within.addMany(oddKeys)).toEqual(oddKeys.map(() => 'added'))
      expect(await within.addMany(oddKeys)).toEqual(oddKeys.map(() => 'unchanged'))
    })
    const held = await queue.getMany(10)
    expect(held.map(({ item }) => item)).toEqual(oddKeys)
    await queue.doneMany(held)
  })

  test('a run ends with what it wrote', async () => {
    const { queue, library, query } = setup()
    await queue.addMany(['order/1', 'order/2'])
    const [first, second] = await queue.getMany(2)
    if (first === undefined || second === undefined) throw new Error('there are two keys')
    await library.transaction(async ({ within, insert }) => {
      await insert(1)
      expect(await within.done(first, { forget: true })).toBe('idle')
      expect(await within.retry(second, new Error("it's ? broken"))).toBe('delayed')
    })
    expect(await queue.inspect.counts()).toMatchObject({ processing: 0, backoff: 1 })
    const [failed] = await query('select last_error from orm.keys')
    expect(failed?.['last_error']).toContain("it's ? broken")
  })

  test('a lost lease rejects, and the transaction can go on', async () => {
    const { queue, library, query } = setup()
    await queue.add('order/1')
    const held = await queue.get()
    if (held === undefined) throw new Error('there is a key')
    await query('update orm.keys set token = token + 1')
    await library.transaction(async ({ within, insert }) => {
      await within.add('order/2')
      await expect(within.done(held)).rejects.toMatchObject({ code: 'ERR_LEASE_LOST' })
      await insert(1)
    })
    expect(await orderIds({ query })).toEqual([1])
    expect((await queue.inspect.get('order/2'))?.state).toBe('ready')
  })

  test('where no transaction is open, nothing is added', async () => {
    const { queue, library } = setup()
    await expect(library.outside().add('order/1')).rejects.toMatchObject({
      code: 'ERR_INVALID_INPUT',
      parameter: 'transaction',
    })
    expect(await queue.len()).toBe(0)
  })
}
