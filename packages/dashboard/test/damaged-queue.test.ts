import { type Driver, memoryDriver, SluiceError } from 'sluice'
import { describe, expect, test } from 'vitest'
import type { FailuresView, Overview } from '../src/wire.ts'
import { kept, queueOf, Site } from './site.ts'

/** A store in which counting some queues fails. */
function failingAt(code: 'ERR_STORE_DAMAGED' | 'ERR_STORE', queues: readonly string[]): Driver {
  const driver = memoryDriver()
  const { counts } = driver
  driver.counts = async (queue, options) => {
    if (queues.includes(queue)) throw new SluiceError(code, `a part of ${queue} is missing`)
    return await counts.call(driver, queue, options)
  }
  return driver
}

async function siteOf(driver: Driver): Promise<Site> {
  const site = kept(new Site({ driver }))
  for (const name of ['a', 'b', 'c']) await queueOf(site, name).add('x')
  return site
}

const views = ['/api/overview', '/api/failures'] as const

describe('a queue that is damaged', () => {
  test('is named with the reason, and hides no other one', async () => {
    const site = await siteOf(failingAt('ERR_STORE_DAMAGED', ['b']))
    const unread = [{ queue: 'b', message: expect.stringMatching(/^a part of b is missing/) }]
    const { body } = await site.ask<Overview>('/api/overview')
    expect(body.queues.map(({ queue }) => queue)).toEqual(['a', 'c'])
    expect(body).toMatchObject({ stored: 3, unread })
    const failures = await site.ask<FailuresView>('/api/failures')
    expect(failures).toMatchObject({ status: 200, body: { unread } })
  })

  test('is named where no other one can be read, as in a store of one queue', async () => {
    const site = await siteOf(failingAt('ERR_STORE_DAMAGED', ['a', 'b', 'c']))
    const unread = ['a', 'b', 'c'].map((queue) => ({ queue }))
    for (const path of views) {
      expect(await site.ask(path)).toMatchObject({ status: 200, body: { unread } })
    }
  })

  test('is the answer where it alone is asked for', async () => {
    const site = await siteOf(failingAt('ERR_STORE_DAMAGED', ['b']))
    for (const path of ['/api/queue?queue=b', '/api/failures?queue=b']) {
      expect(await site.ask(path)).toMatchObject({
        status: 503,
        body: { code: 'ERR_STORE_DAMAGED' },
      })
    }
  })

  test('is not what a store is that does not answer for one', async () => {
    const site = await siteOf(failingAt('ERR_STORE', ['b']))
    for (const path of views) {
      expect(await site.ask(path)).toMatchObject({ status: 503, body: { code: 'ERR_STORE' } })
    }
  })

  test('is not mentioned where there is none', async () => {
    const site = await siteOf(memoryDriver())
    for (const path of views) expect((await site.ask(path)).body).not.toHaveProperty('unread')
  })
})
