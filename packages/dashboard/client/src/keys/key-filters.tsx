import { keyStateWords } from '@sluice/core/words'
import type { JSX } from 'preact'
import type { KeyQuery } from '../../../src/wire.ts'
import { replaceLocation } from '../location/current-location.ts'
import type { QueueLocation } from '../location/location.ts'
import { Icon } from '../ui/icon.tsx'

/** The filters of the key list, which are kept in the address. */
export function KeyFilters({ location }: { readonly location: QueueLocation }): JSX.Element {
  const { keys } = location
  const change = (name: keyof KeyQuery, value: string | number | undefined) => {
    const { [name]: _, ...rest } = keys
    replaceLocation({
      ...location,
      keys: value === undefined || value === '' ? rest : ({ ...rest, [name]: value } as KeyQuery),
      cursors: [],
    })
  }
  const isFiltered = Object.keys(keys).length > 0
  return (
    <search class="filters">
      <label class="search">
        <Icon name="search" />
        <span class="off-screen">Keys that start with</span>
        <input
          type="search"
          data-search
          placeholder="Key starts with"
          spellcheck={false}
          autocomplete="off"
          value={keys.prefix ?? ''}
          onInput={(event) => change('prefix', event.currentTarget.value)}
        />
        <span class="key-hint" aria-hidden="true">
          /
        </span>
      </label>
      <label class="pick">
        <span>State</span>
        <select
          value={keys.state ?? ''}
          onChange={(event) => change('state', event.currentTarget.value)}
        >
          <option value="">any</option>
          {keyStateWords.map((state) => (
            <option key={state} value={state}>
              {state}
            </option>
          ))}
        </select>
      </label>
      <label class="pick">
        <span>Failures ≥</span>
        <input
          type="number"
          min="0"
          step="1"
          inputMode="numeric"
          value={keys.failuresMin ?? ''}
          onInput={(event) => {
            const count = Math.floor(Number(event.currentTarget.value))
            change('failuresMin', count > 0 ? count : undefined)
          }}
        />
      </label>
      <label class="pick">
        <span>Error code</span>
        <input
          type="text"
          class="code-field"
          spellcheck={false}
          autocomplete="off"
          value={keys.errorCode ?? ''}
          onInput={(event) => change('errorCode', event.currentTarget.value)}
        />
      </label>
      {isFiltered && (
        <button
          type="button"
          class="link"
          onClick={() => replaceLocation({ ...location, keys: {}, cursors: [] })}
        >
          Clear
        </button>
      )}
    </search>
  )
}
