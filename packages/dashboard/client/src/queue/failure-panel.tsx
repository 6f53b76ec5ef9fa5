import type { JSX } from 'preact'
import type { FailureGroup, HistoryRange, QueueView } from '../../../src/wire.ts'
import { FailureBars } from '../failures/failure-bars.tsx'
import { hashOf } from '../location/location.ts'
import { many, manyKeys, manyOf } from '../text/figures.ts'
import { Panel } from '../ui/panel.tsx'
import { Scroll } from '../ui/scroll.tsx'
import { Age } from '../ui/times.tsx'
import { Name, Visible } from '../ui/visible.tsx'

/** The failures with one code: how many when, the newest of them, and what to do about the keys. */
function FailureItem({
  queue,
  group,
  range,
}: {
  readonly queue: string
  readonly group: FailureGroup
  readonly range: HistoryRange
}): JSX.Element {
  const { code, failed, perStep, keys, runs, isRedacted, isPart = false } = group
  const failing = `${manyKeys(keys, isPart)} failing now`
  const [newest] = runs
  return (
    <li class="failure">
      <div class="failure-head">
        <a class="code" href={hashOf({ at: 'failures', queue, code })}>
          <Visible text={code} />
        </a>
        <span class="figures">
          {failed > 0 && `${many(failed, 'failed run')} · `}
          {isRedacted !== true && keys > 0 ? (
            <a
              href={hashOf({ at: 'queue', queue, keys: { errorCode: code }, cursors: [] })}
              title="Show these keys, to run, park or remove all of them"
            >
              {failing}
            </a>
          ) : (
            failing
          )}
        </span>
      </div>
      <FailureBars perStep={perStep} range={range} />
      {newest !== undefined && (
        <div class="failure-message">
          <Visible text={newest.message} lengthMax={300} />
        </div>
      )}
      {runs.slice(0, 3).map((run) => (
        <div key={`${run.key} ${run.at}`} class="faint">
          <a href={hashOf({ at: 'key', queue, key: run.key })}>
            <Name text={run.key} />
          </a>
          {run.at > 0 && (
            <span>
              <Age at={run.at} /> ago
            </span>
          )}
        </div>
      ))}
    </li>
  )
}

/** Failed runs by code, also of keys that have succeeded or were deleted since. */
export function FailurePanel({ view }: { readonly view: QueueView }): JSX.Element {
  const groups = view.failureGroups
  const isPart = groups.some((group) => group.isPart === true)
  return (
    <Panel
      title="Failures"
      kind="half"
      aside={
        groups.length > 0 && (
          <a class="link" href={hashOf({ at: 'failures', queue: view.queue })}>
            {manyOf('code', groups.length, isPart)}, all runs
          </a>
        )
      }
      none={groups.length === 0 && 'No failed run was recorded, and no failing key was found.'}
    >
      <Scroll name="Failures by code">
        <ul class="failures">
          {groups.map((group) => (
            <FailureItem key={group.code} queue={view.queue} group={group} range={view.range} />
          ))}
        </ul>
      </Scroll>
    </Panel>
  )
}
