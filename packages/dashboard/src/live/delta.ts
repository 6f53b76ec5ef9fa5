import type { Delta, Overview, QueueRow } from '../wire.ts'

/** A view as texts that can be compared: its members, and the rows of an overview. */
export interface Parts {
  readonly view: object
  readonly members: ReadonlyMap<string, string>
  readonly rows: ReadonlyMap<string, string> | undefined
}

/** Splits a view into parts. */
export function partsOf(view: object): Parts {
  const members = new Map<string, string>()
  let rows: Map<string, string> | undefined
  for (const [name, value] of Object.entries(view)) {
    if (value === undefined) continue
    if (name === 'queues') {
      rows = new Map((value as Overview['queues']).map((row) => [row.queue, JSON.stringify(row)]))
    } else members.set(name, JSON.stringify(value))
  }
  return { view, members, rows }
}

/** The changes between two views; `undefined` if only the time differs. */
export function deltaOf(before: Parts, now: Parts): Delta | undefined {
  const set: [string, unknown][] = []
  for (const [name, text] of now.members) {
    if (before.members.get(name) !== text)
      set.push([name, (now.view as Record<string, unknown>)[name]])
  }
  const unset = [...before.members.keys()].filter((name) => !now.members.has(name))
  const rows = rowsDelta(before, now)
  const isSame = set.every(([name]) => name === 'at') && unset.length === 0 && rows === undefined
  if (isSame) return undefined
  return {
    set: Object.fromEntries(set),
    ...(unset.length === 0 ? {} : { unset }),
    ...rows,
  }
}

function rowsDelta(before: Parts, now: Parts): Pick<Delta, 'rows' | 'gone' | 'order'> | undefined {
  if (now.rows === undefined) return undefined
  const known = before.rows ?? new Map<string, string>()
  const changed: [string, QueueRow][] = []
  for (const row of (now.view as Overview).queues) {
    if (known.get(row.queue) !== now.rows.get(row.queue)) changed.push([row.queue, row])
  }
  const gone = [...known.keys()].filter((name) => now.rows?.has(name) !== true)
  const order = [...now.rows.keys()]
  const isOrdered = order.join('\0') === [...known.keys()].join('\0')
  if (changed.length === 0 && gone.length === 0 && isOrdered) return undefined
  return {
    // Not by assignment: a queue may be called __proto__.
    ...(changed.length === 0 ? {} : { rows: Object.fromEntries(changed) }),
    ...(gone.length === 0 ? {} : { gone }),
    ...(isOrdered ? {} : { order }),
  }
}
