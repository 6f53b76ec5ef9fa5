import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { KeyView } from '../../../src/wire.ts'
import { messageOf, request } from '../live/ask.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Panel } from '../ui/panel.tsx'
import { Age } from '../ui/times.tsx'
import { JsonText } from './json-text.tsx'

/** The stored key as JSON; with its item only on request. */
export function ItemPanel({ view }: { readonly view: KeyView }): JSX.Element {
  const item = useSignal<{ readonly value: unknown; readonly at: number } | undefined>(undefined)
  const trouble = useSignal('')
  const { queue, key, line } = view
  const isStored = line !== undefined
  useEffect(() => {
    // What is stored under this key later is another one.
    if (isStored) return
    item.value = undefined
    trouble.value = ''
  }, [isStored])

  const show = async () => {
    try {
      const params = new URLSearchParams({ queue, key, item: '1' })
      const whole = await request<KeyView>(`api/key?${params}`)
      trouble.value = whole.line === undefined ? 'the key is no longer stored' : ''
      if (whole.line !== undefined) item.value = { value: whole.line.item, at: whole.at }
    } catch (error) {
      trouble.value = messageOf(error)
    }
  }

  if (line === undefined) return <Panel title="Raw" kind="wide" none="This key is not stored." />
  const { hasItem, ...rest } = line
  const shown = item.value === undefined ? rest : { ...rest, item: item.value.value }
  const text = JSON.stringify(shown, null, 2)
  return (
    <Panel
      title="Raw"
      kind="wide"
      aside={
        <>
          {!hasItem ? (
            <span>its item is the key itself</span>
          ) : item.value === undefined ? (
            <button type="button" class="link" onClick={() => void show()}>
              show the item
            </button>
          ) : (
            <>
              {/* An add may replace it, and nothing else that is shown changes with it. */}
              <span>
                item read <Age at={item.value.at} /> ago
              </span>{' '}
              <button
                type="button"
                class="link"
                onClick={() => {
                  item.value = undefined
                }}
              >
                hide the item
              </button>
            </>
          )}
          <CopyButton text={text} what="the JSON" />
        </>
      }
    >
      {trouble.value !== '' && (
        <p class="tone-bad" role="alert">
          The item could not be read: {trouble.value}
        </p>
      )}
      <JsonText text={text} />
    </Panel>
  )
}
