// This folder is the list of keys of a queue: filters, pages, selection and bulk actions.

import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { mayAct } from '../live/act.ts'
import { goTo } from '../location/current-location.ts'
import { paramsOf, type QueueLocation } from '../location/location.ts'
import { grouped, many } from '../text/figures.ts'
import { useHeldRows, useHold } from '../ui/held-rows.ts'
import { Icon } from '../ui/icon.tsx'
import { BulkBar } from './bulk-bar.tsx'
import { KeyFilters } from './key-filters.tsx'
import { type KeyList, pageSize, useKeyList } from './key-list.ts'
import { KeyRowView } from './key-row.tsx'
import { NoKeys } from './no-keys.tsx'

const titles = [
  ['Key', 'name-cell'],
  ['State', ''],
  ['Next', 'figure'],
  ['Failures', 'figure'],
  ['Priority', 'figure'],
  ['Last error', 'error-cell'],
] as const

/** The selected keys. A key stays selected when it changes. */
interface Selected {
  readonly filter: string
  readonly keys: ReadonlySet<string>
}

function Pages({ location, list }: { location: QueueLocation; list: KeyList }): JSX.Element {
  const { cursors } = location
  const { lines } = list
  // A second click before the next page has arrived must not skip one.
  const next = list.isCurrent ? lines?.cursor : undefined
  const shown = lines?.keys.length ?? 0
  const first = cursors.length * pageSize + 1
  return (
    <nav class="pages" aria-label="Pages of keys">
      <span class="figures faint">
        {shown === 0
          ? 'no keys'
          : cursors.length === 0
            ? `${shown} shown${lines?.cursor === undefined ? ', all keys' : ''}`
            : `page ${cursors.length + 1}, from about ${first}`}
      </span>
      <button
        type="button"
        class="quiet"
        aria-label="Previous page"
        aria-disabled={cursors.length === 0}
        onClick={() => {
          if (cursors.length > 0) goTo({ ...location, cursors: cursors.slice(0, -1) })
        }}
      >
        <Icon name="left" />
      </button>
      <button
        type="button"
        class="quiet"
        aria-label="Next page"
        aria-disabled={next === undefined}
        onClick={() => {
          if (next !== undefined) goTo({ ...location, cursors: [...cursors, next] })
        }}
      >
        <Icon name="right" />
      </button>
    </nav>
  )
}

/** The keys of a queue, with filters, selection and bulk actions. */
export function KeySection({ location }: { readonly location: QueueLocation }): JSX.Element {
  const list = useKeyList(location)
  const hold = useHold()
  const filter = paramsOf(location.keys).toString()
  const ticked = useSignal<Selected>({ filter, keys: new Set() })
  const lastTicked = useRef<string>(undefined)
  const keys = ticked.value.filter === filter ? ticked.value.keys : new Set<string>()
  const rows = useHeldRows(list.lines?.keys ?? [], (line) => line.key, hold.isHeld, list.asked)
  const canTick = mayAct()

  const tick = (next: ReadonlySet<string>) => {
    ticked.value = { filter, keys: next }
  }
  // Keys that were ticked on other pages stay so.
  const tickAll = (some: readonly string[], isOn: boolean) => {
    const next = new Set(keys)
    for (const id of some) {
      if (isOn) next.add(id)
      else next.delete(id)
    }
    tick(next)
  }
  const ids = rows.map(({ id }) => id)
  const onSelect = (key: string, isOn: boolean, isRange: boolean) => {
    const from = isRange ? ids.indexOf(lastTicked.current ?? key) : ids.indexOf(key)
    const [start, end] = [Math.min(from, ids.indexOf(key)), Math.max(from, ids.indexOf(key))]
    tickAll(start === -1 ? [key] : ids.slice(start, end + 1), isOn)
    lastTicked.current = key
  }
  const isAllTicked = ids.length > 0 && ids.every((id) => keys.has(id))

  return (
    <section class="keys" aria-label="Keys">
      <header class="keys-head">
        <h2>Keys</h2>
        <KeyFilters location={location} />
        <Pages location={location} list={list} />
      </header>
      {canTick && (keys.size > 0 || filter !== '') && (
        // Its dialog is for these filters, and Back may change them under it.
        <BulkBar key={filter} location={location} ticked={keys} onClear={() => tick(new Set())} />
      )}
      {list.trouble !== undefined && (
        <p class="none tone-bad" role="alert">
          The keys could not be read: {list.trouble}
        </p>
      )}
      <table
        class="grid key-grid"
        role="table"
        aria-label="Keys"
        aria-busy={list.lines === undefined}
      >
        <thead role="rowgroup">
          <tr role="row">
            {canTick && (
              <th role="columnheader" scope="col" class="select-cell">
                <input
                  type="checkbox"
                  aria-label="Select every key that is shown"
                  checked={isAllTicked}
                  onClick={() => tickAll(ids, !isAllTicked)}
                />
              </th>
            )}
            {titles.map(([title, kind]) => (
              <th key={title} role="columnheader" scope="col" class={kind}>
                <span class="head">{title}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" {...hold.on}>
          {rows.map(({ id, row, isGone }) => (
            <KeyRowView
              key={id}
              queue={location.queue}
              line={row}
              isGone={isGone}
              isSelected={keys.has(id)}
              onSelect={canTick ? onSelect : undefined}
            />
          ))}
        </tbody>
      </table>
      {list.lines !== undefined && rows.length === 0 && list.search === undefined && (
        <NoKeys location={location} />
      )}
      {list.search !== undefined && (
        <p class="none" role="status" aria-busy={list.search.isRunning}>
          {grouped(list.search.lookedAt)} keys searched, {many(rows.length, 'match', 'matches')}
          {list.search.isRunning ? ' so far … ' : '. '}
          <button type="button" class="link" onClick={list.search.toggle}>
            {list.search.isRunning ? 'Stop' : 'Continue the search'}
          </button>
        </p>
      )}
    </section>
  )
}
