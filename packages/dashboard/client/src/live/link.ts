import { batch, signal } from '@preact/signals'
import { announce } from './notices.ts'
import { setStoreTime } from './store-time.ts'

/** The state of the connection to the server. */
export type Link = 'connecting' | 'live' | 'lost' | 'paused'

/** Why updates have stopped, and since when by the clock of the browser. */
export interface Trouble {
  /**
   * `damage`: the store answers, and what is stored cannot be read. `full`: no stream can be had;
   * views are read at intervals instead.
   */
  readonly what: 'store' | 'damage' | 'server' | 'full'
  readonly words: string
  readonly since: number
  /** That of the error, for `store` and `damage`. */
  readonly code?: string | undefined
}

/** Whether the user has paused updates. */
export const isPaused = signal(false)

export const link = signal<Link>('connecting')
export const trouble = signal<Trouble | undefined>(undefined)

/** When the last message came, by the clock of the browser. */
export const heardAt = signal<number | undefined>(undefined)

/** Why the server cannot show the location, such as an invalid queue name. */
export const refusal = signal<string | undefined>(undefined)

/** Notes the time of the store that came with a message. */
export function heard(at: number): void {
  setStoreTime(at)
  heardAt.value = Date.now()
}

/** The codes of errors that are no outage: they stay until the store is repaired, or a program upgraded. */
const damageCodes: ReadonlySet<string> = new Set([
  'ERR_STORE_DAMAGED',
  'ERR_STORE_FOREIGN',
  'ERR_SCHEMA_NEWER',
  'ERR_SCHEMA_OLDER',
])

/** Notes and announces that the store was not read. */
export function unread(code: string, words: string, forMs = 0): void {
  lost(damageCodes.has(code) ? 'damage' : 'store', words, forMs, code)
}

const announced = {
  store: 'Store unreachable: ',
  damage: 'Reading failed: ',
  full: 'No live updates: ',
} as const

/** Notes and announces that updates have stopped. */
export function lost(what: Trouble['what'], words: string, forMs = 0, code?: string): void {
  if (trouble.peek() === undefined) {
    announce(what === 'server' ? 'Connection lost.' : announced[what] + words)
  }
  const since = trouble.peek()?.since ?? Date.now() - forMs
  batch(() => {
    trouble.value = { what, words, since, code }
    if (link.peek() !== 'paused') link.value = what === 'full' ? 'connecting' : 'lost'
  })
}

/** Notes that something else is shown, which need not be damaged. */
export function turned(): void {
  if (trouble.peek()?.what !== 'damage') return
  batch(() => {
    trouble.value = undefined
    if (link.peek() !== 'paused') link.value = 'connecting'
  })
}

/** Notes that the server answers and can read the store. */
export function reachable(): void {
  if (trouble.peek() !== undefined) announce('Connected again.')
  trouble.value = undefined
}

/** Notes that the stream brings updates again. */
export function recovered(): void {
  batch(() => {
    reachable()
    refusal.value = undefined
    link.value = 'live'
  })
}
