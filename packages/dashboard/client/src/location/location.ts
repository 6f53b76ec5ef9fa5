// This folder is the location within the page, which the part of the address after `#` contains.

import type { HistoryRange, KeyQuery, KeyStateWord } from '../../../src/wire.ts'

/** The columns by which queues can be sorted; `worst` is the order of the server. */
export type QueueOrder =
  | 'worst'
  | 'queue'
  | 'ready'
  | 'delayed'
  | 'backoff'
  | 'processing'
  | 'parked'
  | 'oldest'
  | 'in'
  | 'out'
  | 'failing'
  | 'wait'
  | 'work'

/** Every queue of the store. */
export interface OverviewLocation {
  readonly at: 'overview'
  readonly filter: string
  readonly order: QueueOrder
  /** 5 minutes if absent. */
  readonly range?: HistoryRange
}

/** One queue, with some of its keys. */
export interface QueueLocation {
  readonly at: 'queue'
  readonly queue: string
  readonly keys: KeyQuery
  /** The cursor of each page of keys that was opened; the last one is shown. */
  readonly cursors: readonly string[]
  /** 5 minutes if absent. */
  readonly range?: HistoryRange
}

/** The failed runs of every queue, or of one. */
export interface FailuresLocation {
  readonly at: 'failures'
  /** Every queue if absent. */
  readonly queue?: string
  /** The code whose failed runs are shown one by one. */
  readonly code?: string
  /** The queue of that code where every queue is shown; each one if absent. */
  readonly codeOf?: string
  /** 5 minutes if absent. */
  readonly range?: HistoryRange
}

/** One key. */
export interface KeyLocation {
  readonly at: 'key'
  readonly queue: string
  readonly key: string
}

/** A location within the page, which the address contains completely. */
export type PageLocation = OverviewLocation | FailuresLocation | QueueLocation | KeyLocation

export const home: OverviewLocation = { at: 'overview', filter: '', order: 'worst' }

const orders: readonly QueueOrder[] = [
  'worst',
  'queue',
  'ready',
  'delayed',
  'backoff',
  'processing',
  'parked',
  'oldest',
  'in',
  'out',
  'failing',
  'wait',
  'work',
]

const states: readonly KeyStateWord[] = [
  'ready',
  'delayed',
  'backoff',
  'processing',
  'dirty',
  'parked',
  'idle',
]

/** The filter as query parameters, with the names that the API uses. */
export function paramsOf(keys: KeyQuery): URLSearchParams {
  const params = new URLSearchParams()
  if (keys.state !== undefined) params.set('state', keys.state)
  if (keys.prefix !== undefined) params.set('prefix', keys.prefix)
  if (keys.failuresMin !== undefined) params.set('failuresMin', String(keys.failuresMin))
  if (keys.errorCode !== undefined) params.set('errorCode', keys.errorCode)
  return params
}

function rangeOf(params: URLSearchParams): { readonly range?: HistoryRange } {
  const range = params.get('range')
  return range === '1h' || range === '24h' ? { range } : {}
}

function keysOf(params: URLSearchParams): KeyQuery {
  const state = states.find((word) => word === params.get('state'))
  const failures = Number(params.get('failuresMin'))
  const prefix = params.get('prefix') ?? ''
  const errorCode = params.get('errorCode') ?? ''
  return {
    ...(state === undefined ? {} : { state }),
    ...(prefix === '' ? {} : { prefix }),
    ...(Number.isSafeInteger(failures) && failures > 0 ? { failuresMin: failures } : {}),
    ...(errorCode === '' ? {} : { errorCode }),
  }
}

/** The address of a location, from `#` on. Names are in the query, since a name may be `..`. */
export function hashOf(location: PageLocation): string {
  const params = new URLSearchParams()
  if (location.at === 'overview') {
    if (location.filter !== '') params.set('filter', location.filter)
    if (location.order !== 'worst') params.set('order', location.order)
  } else if (location.at === 'failures') {
    if (location.queue !== undefined) params.set('queue', location.queue)
    if (location.code !== undefined) params.set('code', location.code)
    if (location.codeOf !== undefined) params.set('codeOf', location.codeOf)
  } else {
    params.set('queue', location.queue)
    if (location.at === 'key') params.set('key', location.key)
    else {
      for (const [name, value] of paramsOf(location.keys)) params.set(name, value)
      for (const cursor of location.cursors) params.append('cursor', cursor)
    }
  }
  if (location.at !== 'key' && location.range !== undefined && location.range !== '5m') {
    params.set('range', location.range)
  }
  const path = location.at === 'overview' ? '' : location.at
  const query = params.toString()
  return `#/${path}${query === '' ? '' : `?${query}`}`
}

/** The location of an address; the overview if the address is not valid. */
export function locationOf(hash: string): PageLocation {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s)
  const params = new URLSearchParams(query)
  const queue = params.get('queue')
  if (path === 'key' && queue !== null && params.has('key')) {
    return { at: 'key', queue, key: params.get('key') ?? '' }
  }
  if (path === 'queue' && queue !== null) {
    return {
      at: 'queue',
      queue,
      keys: keysOf(params),
      cursors: params.getAll('cursor'),
      ...rangeOf(params),
    }
  }
  if (path === 'failures') {
    const code = params.get('code')
    const codeOf = params.get('codeOf')
    return {
      at: 'failures',
      ...(queue === null ? {} : { queue }),
      ...(code === null ? {} : { code }),
      ...(codeOf === null ? {} : { codeOf }),
      ...rangeOf(params),
    }
  }
  return {
    at: 'overview',
    filter: params.get('filter') ?? '',
    order: orders.find((word) => word === params.get('order')) ?? 'worst',
    ...rangeOf(params),
  }
}

/** The parent location: the queue of a key or of failures, or all queues. */
export function above(location: PageLocation): PageLocation | undefined {
  const { at } = location
  if (at === 'key' || (at === 'failures' && location.queue !== undefined)) {
    return { at: 'queue', queue: location.queue ?? '', keys: {}, cursors: [] }
  }
  return at === 'overview' ? undefined : home
}
