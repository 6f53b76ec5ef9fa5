import type { JSX } from 'preact'
import type { HistoryRange } from '../../../src/wire.ts'
import { currentLocation, replaceLocation } from '../location/current-location.ts'

const ranges: readonly (readonly [HistoryRange, string])[] = [
  ['5m', '5 min'],
  ['1h', '1 h'],
  ['24h', '24 h'],
]

/** How far back the charts of the screen go; it is kept in the address. */
export function RangeSwitch(): JSX.Element | null {
  const location = currentLocation.value
  if (location.at === 'key') return null
  const { range: chosen = '5m' } = location
  return (
    <fieldset class="range-switch" aria-label="Time range">
      {ranges.map(([range, title]) => (
        <button
          key={range}
          type="button"
          aria-pressed={range === chosen}
          onClick={() => replaceLocation({ ...location, range })}
        >
          {title}
        </button>
      ))}
    </fieldset>
  )
}
