import { describe, expect, it } from 'vitest'
import {
  above,
  hashOf,
  home,
  locationOf,
  type PageLocation,
  paramsOf,
} from '../client/src/location/location.ts'

const locations: readonly PageLocation[] = [
  home,
  { at: 'overview', filter: 'p&d=#?', order: 'oldest' },
  { at: 'overview', filter: '', order: 'queue', range: '1h' },
  { at: 'queue', queue: 'pods', keys: {}, cursors: [] },
  { at: 'queue', queue: 'pods', keys: {}, cursors: [], range: '1h' },
  { at: 'queue', queue: '', keys: {}, cursors: [] },
  { at: 'queue', queue: '../..', keys: { state: 'backoff', prefix: ' a%2F' }, cursors: [] },
  {
    at: 'queue',
    queue: 'a?b#c',
    keys: { failuresMin: 3, errorCode: 'ECONN REFUSED&x=1' },
    cursors: ['one&two', 'drei=3'],
  },
  { at: 'failures' },
  { at: 'failures', queue: '', code: 'E &x=1#', range: '24h' },
  { at: 'failures', queue: 'a?b#c' },
  { at: 'failures', code: 'E', codeOf: 'a?b#c' },
  { at: 'key', queue: 'pods', key: 'json:{"a":"\u202e?&#"}' },
  { at: 'key', queue: 'q', key: '👩‍🚀/ключ\n' },
]

describe('an address', () => {
  it.each(locations)('contains the whole location, and leads back to it: %j', (location) => {
    expect(locationOf(hashOf(location))).toEqual(location)
  })

  it('leads to the overview when it is none', () => {
    for (const hash of [
      '',
      '#',
      '#/',
      '#/nowhere',
      '#/queue',
      '#/key?queue=a',
      '#sign-in',
      '%%%',
    ]) {
      expect(locationOf(hash)).toEqual(home)
    }
  })

  it('leaves out filters that mean nothing', () => {
    const location = locationOf('#/queue?queue=a&state=nonsense&failuresMin=-1&prefix=&errorCode=')
    expect(location).toEqual({ at: 'queue', queue: 'a', keys: {}, cursors: [] })
    expect(locationOf('#/?order=nonsense')).toEqual(home)
  })

  it('says nothing of what is usual', () => {
    expect(hashOf(home)).toBe('#/')
    expect(hashOf({ ...home, range: '5m' } as PageLocation)).toBe('#/')
    expect(hashOf({ at: 'queue', queue: 'pods', keys: {}, cursors: [] })).toBe('#/queue?queue=pods')
    expect(String(paramsOf({}))).toBe('')
  })

  it('uses the words of the API for filters', () => {
    const params = paramsOf({ state: 'dirty', prefix: 'a', failuresMin: 2, errorCode: 'E' })
    expect([...params.keys()]).toEqual(['state', 'prefix', 'failuresMin', 'errorCode'])
  })
})

describe('going up', () => {
  it('leads from a key to its queue, from there to all, and no further', () => {
    const queue = above({ at: 'key', queue: 'a', key: 'b' })
    expect(queue).toEqual({ at: 'queue', queue: 'a', keys: {}, cursors: [] })
    expect(above(queue as PageLocation)).toEqual(home)
    expect(above(home)).toBeUndefined()
    expect(above({ at: 'failures', queue: 'a' })).toEqual(queue)
    expect(above({ at: 'failures', code: 'E' })).toEqual(home)
  })
})
