import type { JSX } from 'preact'
import type { FailureGroup, QueueView } from '../../../src/wire.ts'
import { hashOf } from '../location/location.ts'
import { many } from '../text/figures.ts'
import { Panel } from '../ui/panel.tsx'
import { Scroll } from '../ui/scroll.tsx'
import { Name, Visible } from '../ui/visible.tsx'

function Group({ queue, group }: { queue: string; group: FailureGroup }): JSX.Element {
  const { code, name, message, keys, failures, example } = group
  return (
    <li class="failure">
      <div class="failure-head">
        <span class="code">
          <Visible text={code ?? name} />
        </span>
        <span class="figures">
          {many(failures, 'failure')} ·{' '}
          {code === undefined ? (
            many(keys, 'key')
          ) : (
            <a
              href={hashOf({ at: 'queue', queue, keys: { errorCode: code }, cursors: [] })}
              title="Show these keys"
            >
              {many(keys, 'key')}
            </a>
          )}
        </span>
      </div>
      <div class="failure-message">
        <Visible text={message} lengthMax={300} />
      </div>
      <div class="faint">
        such as{' '}
        <a href={hashOf({ at: 'key', queue, key: example })}>
          <Name text={example} />
        </a>
      </div>
    </li>
  )
}

/** Failures, grouped by kind. */
export function FailurePanel({ view }: { readonly view: QueueView }): JSX.Element {
  const groups = view.failureGroups
  return (
    <Panel
      title="Failures"
      aside={view.more && 'of the keys that were read'}
      none={groups.length === 0 && 'No failing keys.'}
    >
      <Scroll name="Failures by kind">
        <ul class="failures">
          {groups.map((group) => (
            <Group
              key={`${group.name} ${group.code ?? ''} ${group.message}`}
              queue={view.queue}
              group={group}
            />
          ))}
        </ul>
      </Scroll>
    </Panel>
  )
}
