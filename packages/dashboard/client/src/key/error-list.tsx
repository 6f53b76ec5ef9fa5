import type { JSX } from 'preact'
import type { KeyView } from '../../../src/wire.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Scroll } from '../ui/scroll.tsx'
import { Clock } from '../ui/times.tsx'
import { Visible } from '../ui/visible.tsx'

type Failure = KeyView['errors'][number]

function ErrorView({ error, isNewest }: { error: Failure; isNewest: boolean }): JSX.Element {
  const { name, code, message, stack, at } = error
  return (
    <li class="error">
      <div class="error-head">
        <span class="code">
          <Visible text={code ?? name} lengthMax={120} />
        </span>
        {code !== undefined && (
          <span class="faint">
            <Visible text={name} lengthMax={120} />
          </span>
        )}
        <span class="figures faint">
          {isNewest && 'newest '}
          {at !== undefined && <Clock at={at} />}
        </span>
        <CopyButton text={stack ?? `${name}: ${message}`} what="the error" />
      </div>
      <p class="error-message">
        <Visible text={message} lines />
      </p>
      {stack !== undefined && (
        <details>
          <summary>Stack</summary>
          <pre>
            <Visible text={stack} lines lengthMax={20_000} />
          </pre>
        </details>
      )}
    </li>
  )
}

/** The errors of a key's runs, newest first. */
export function ErrorList({ errors }: { readonly errors: readonly Failure[] }): JSX.Element {
  return (
    <Scroll name="Errors, newest first">
      <ol class="errors">
        {errors.map((error, index) => (
          <ErrorView
            key={`${error.at ?? ''} ${error.name} ${error.message}`}
            error={error}
            isNewest={index === 0 && errors.length > 1}
          />
        ))}
      </ol>
    </Scroll>
  )
}
