import type { ComponentChildren, JSX } from 'preact'
import type { KeyStateWord, QueueView } from '../../../src/wire.ts'
import { hashOf } from '../location/location.ts'
import { counted, percent, rate, signedRate } from '../text/figures.ts'
import { SlotBar } from '../ui/slot-bar.tsx'
import { StateWord, WhatIs } from '../ui/state-word.tsx'
import { Age, In } from '../ui/times.tsx'
import { ExactCounts } from './exact-counts.tsx'

function Tile({
  queue,
  state,
  count,
  isUrgent = false,
  children,
}: {
  readonly queue: string
  readonly isUrgent?: boolean
  readonly state: KeyStateWord
  readonly count: string
  readonly children?: ComponentChildren
}): JSX.Element {
  const href = hashOf({ at: 'queue', queue, keys: { state }, cursors: [] })
  return (
    <div class={`tile tile-${state} ${count === '0' ? 'nothing' : isUrgent ? 'urgent' : ''}`}>
      <div class="tile-head">
        <StateWord state={state} />
        <WhatIs state={state} />
      </div>
      <a class="tile-count" href={href} title={`Show the keys that are ${state}`}>
        {count}
        <span class="off-screen"> {state}</span>
      </a>
      <div class="tile-note">{children}</div>
    </div>
  )
}

function Flow({ view }: { readonly view: QueueView }): JSX.Element {
  const { inPerSecond, outPerSecond, errorRatio, mergedRatio } = view.flow
  return (
    <div class="tile flow-tile">
      <div class="tile-head">in → out</div>
      <div class="tile-count">
        {rate(inPerSecond)}
        <span class="faint"> → </span>
        {rate(outPerSecond)}
      </div>
      <div class="tile-note">
        {mergedRatio !== undefined && (
          <span class="merged" title="Adds that merged into a pending run">
            {percent(mergedRatio)} of adds merged
          </span>
        )}
        {errorRatio !== undefined && <span>{percent(errorRatio)} fail</span>}
        {mergedRatio === undefined && errorRatio === undefined && (
          <span>waiting for worker reports</span>
        )}
      </div>
    </div>
  )
}

/** Tiles of states that mean the same to an operator. */
function TileGroup({
  title,
  children,
}: {
  readonly title: string
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    <fieldset class="tile-group" aria-label={title}>
      <legend>{title}</legend>
      {children}
    </fieldset>
  )
}

/** The health of the queue at a glance. */
export function QueueStrip({ view }: { readonly view: QueueView }): JSX.Element {
  const { queue, counts, flow } = view
  const count = (state: KeyStateWord) => counted(counts[state], counts)
  const { inPerSecond, outPerSecond } = flow
  return (
    <section class="tiles" aria-label="Health">
      <TileGroup title="Will run">
        <Tile queue={queue} state="ready" count={count('ready')}>
          {counts.oldestReadyAt !== undefined && (
            <>
              oldest <Age at={counts.oldestReadyAt} />
            </>
          )}
          {inPerSecond !== undefined && outPerSecond !== undefined && (
            <span>{signedRate(inPerSecond - outPerSecond)}/s</span>
          )}
        </Tile>
        <Tile queue={queue} state="delayed" count={count('delayed')}>
          {view.nextDelayedAt !== undefined && (
            <>
              next <In at={view.nextDelayedAt} />
            </>
          )}
        </Tile>
        <Tile queue={queue} state="backoff" count={count('backoff')}>
          {view.nextBackoffAt !== undefined && (
            <>
              next <In at={view.nextBackoffAt} />
            </>
          )}
        </Tile>
      </TileGroup>
      <TileGroup title="Running">
        <Tile queue={queue} state="processing" count={count('processing')}>
          <SlotBar busy={counts.processing + counts.dirty} slots={view.slots} />
        </Tile>
        <Tile queue={queue} state="dirty" count={count('dirty')} />
      </TileGroup>
      <TileGroup title="Needs you">
        <Tile queue={queue} state="parked" count={count('parked')} isUrgent>
          {counts.parked > 0 && 'runs only if unparked'}
        </Tile>
      </TileGroup>
      <TileGroup title="Nothing pending">
        <Tile queue={queue} state="idle" count={count('idle')} />
      </TileGroup>
      <TileGroup title="Per second">
        <Flow view={view} />
      </TileGroup>
      {counts.capped && <ExactCounts key={queue} queue={queue} />}
    </section>
  )
}
