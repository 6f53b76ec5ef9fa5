import type { JSX } from 'preact'
import type { FailureGroup, QueueView } from '../../../src/wire.ts'
import { hashOf } from '../location/location.ts'
import { grouped, many } from '../text/figures.ts'
import { Panel } from '../ui/panel.tsx'
import { Scroll } from '../ui/scroll.tsx'
import { Age } from '../ui/times.tsx'
import { Name, Visible } from '../ui/visible.tsx'

/** Failed runs over the range, one bar for each step. */
function Bars({ perStep }: { readonly perStep: readonly number[] }): JSX.Element | null {
  if (perStep.length === 0) return null
  const most = Math.max(1, ...perStep)
  const label = `at most ${grouped(most)} failed runs in a step`
  return (
    <svg
      class="failure-bars"
      viewBox={`0 0 ${perStep.length} 18`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {perStep.map((failed, index) => {
        const high = (failed / most) * 18
        return failed === 0 ? null : (
          <rect key={index} x={index + 0.1} width={0.8} y={18 - high} height={high} />
        )
      })}
    </svg>
  )
}

/** The failures with one code: how many when, the newest of them, and what to do about the keys. */
export function FailureItem({
  queue,
  group,
}: {
  readonly queue: string
  readonly group: FailureGroup
}): JSX.Element {
  const { code, failed, perStep, keys, runs, hasCode } = group
  const [newest] = runs
  return (
    <li class="failure">
      <div class="failure-head">
        <span class="code">
          <Visible text={code} />
        </span>
        <span class="figures">
          {failed > 0 && `${many(failed, 'failed run')} · `}
          {hasCode === true && keys > 0 ? (
            <a
              href={hashOf({ at: 'queue', queue, keys: { errorCode: code }, cursors: [] })}
              title="Show these keys, to run, park or remove all of them"
            >
              {many(keys, 'key')} failing now
            </a>
          ) : (
            `${many(keys, 'key')} failing now`
          )}
        </span>
      </div>
      <Bars perStep={perStep} />
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
  return (
    <Panel
      title="Failures"
      kind="half"
      aside={groups.length > 0 && many(groups.length, 'code')}
      none={groups.length === 0 && 'No failed run was recorded, and no stored key has failed.'}
    >
      <Scroll name="Failures by code">
        <ul class="failures">
          {groups.map((group) => (
            <FailureItem key={group.code} queue={view.queue} group={group} />
          ))}
        </ul>
      </Scroll>
    </Panel>
  )
}
