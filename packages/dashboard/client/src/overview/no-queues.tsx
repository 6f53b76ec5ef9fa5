import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { goTo } from '../location/current-location.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Scroll } from '../ui/scroll.tsx'

const drivers: Readonly<Record<string, readonly [from: string, make: string]>> = {
  memory: ["import { memoryDriver } from 'sluice'", 'memoryDriver()'],
  sqlite: ["import { sqliteDriver } from '@sluice/sqlite'", "sqliteDriver({ file: 'queue.db' })"],
  postgres: [
    "import { postgresDriver } from '@sluice/postgres'",
    'postgresDriver({ connectionString })',
  ],
  redis: ["import { redisDriver } from '@sluice/redis'", 'redisDriver({ url })'],
}

function firstKey(driver: string): string {
  const [from, make] = drivers[driver] ?? ["import { driver } from './your-driver.js'", 'driver']
  return [
    "import { createQueue } from 'sluice'",
    from,
    '',
    `const queue = createQueue({ name: 'orders', driver: ${make} })`,
    "await queue.add('order/42')",
  ].join('\n')
}

/** Shown while there is no queue: the code that creates one. */
export function NoQueues({ driver, listed }: { driver: string; listed: boolean }): JSX.Element {
  const name = useSignal('')
  const code = firstKey(driver)
  const open = (event: Event) => {
    event.preventDefault()
    goTo({ at: 'queue', queue: name.value, keys: {}, cursors: [] })
  }
  return (
    <div class="empty">
      <h1>{listed ? 'No queue yet' : 'This store keeps no list of its queues'}</h1>
      <p>
        A queue appears here as soon as its first key is added.{' '}
        <span class="faint" role="status">
          Listening …
        </span>
      </p>
      <div class="sample">
        <CopyButton text={code} what="the code" />
        <Scroll name="The code">
          <pre>{code}</pre>
        </Scroll>
      </div>
      <form class="inline" onSubmit={open}>
        <label class="field">
          <span>Or open a queue by name</span>
          <input
            type="text"
            data-search
            spellcheck={false}
            autocomplete="off"
            value={name.value}
            onInput={(event) => {
              name.value = event.currentTarget.value
            }}
          />
        </label>
        <button type="submit" class="button">
          Open
        </button>
      </form>
    </div>
  )
}
