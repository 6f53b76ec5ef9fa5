import { createHash } from 'node:crypto'
import type { Clock, Driver, EpochMs, WorkerRow } from '@sluice/core'
import { bookNamePrefix, failuresExpireMsDefault, queueNameBytesMax } from '@sluice/core'

/** The assumed gap between readings of a process that has not read twice yet. */
const firstEveryMs = 60_000

/** The longest gap between two readings of a process that still counts as present. */
const longestEveryMs = 240_000

/** How many readings a process may miss, and how late the last one may be. */
const patience = { times: 2.5, ms: 5_000 }

/** How many gaps between readings are stored, so that a single manual reading changes nothing. */
const gapsMax = 3

/** The result of one reading. */
export interface Verdict {
  readonly isElected: boolean
  /** The store's time. */
  readonly now: EpochMs
}

/** The name under which exporters of a queue register; it never has keys. */
function bookName(exporter: string, queue: string): string {
  const name = `${bookNamePrefix}${exporter}:${queue}`
  if (Buffer.byteLength(name) <= queueNameBytesMax) return name
  return `${bookNamePrefix}${exporter}:${createHash('sha256').update(queue).digest('hex')}`
}

/**
 * Elects the process that exports the state of one queue in the store.
 *
 * Each exporter of the queue registers in the store whenever it reads, with the gap between its
 * readings. Of the present exporters, the one that registered first is elected; no vote is needed,
 * because all of them see the same list. An exporter that is silent for two and a half of its own
 * gaps is no longer present; one that leaves unregisters.
 */
export class Election {
  readonly #driver: Driver
  readonly #book: string
  readonly #clock: Clock
  readonly #holder: string
  #readAt: number | undefined
  #gaps: number[] = []

  /** `holder`: the name of this exporter, also in a later election: with a new one it would be the last in line. */
  constructor(driver: Driver, queue: string, exporter: string, clock: Clock, holder: string) {
    this.#driver = driver
    this.#book = bookName(exporter, queue)
    this.#clock = clock
    this.#holder = holder
  }

  /** Registers, and returns which process is elected. */
  async look(): Promise<Verdict> {
    const { capabilities } = this.#driver
    const isOpenToAll = capabilities.shared && capabilities.workers
    const now = await this.#register(isOpenToAll, false)
    if (!isOpenToAll || this.#driver.workers === undefined) return { isElected: true, now }
    const rows = await this.#driver.workers(this.#book, longestEveryMs * patience.times)
    const first = rows.filter((row) => isThere(row, now)).sort(byAge)[0]
    return { isElected: first === undefined || first.holder === this.#holder, now }
  }

  async #register(isOpenToAll: boolean, hasLeft: boolean): Promise<EpochMs> {
    const { now } = await this.#driver.tick(this.#book, {
      holder: this.#holder,
      limit: 1,
      failuresExpireMs: failuresExpireMsDefault,
      worker: isOpenToAll
        ? {
            holder: this.#holder,
            host: '',
            pid: 0,
            concurrency: 0,
            settings: { everyMs: this.#everyMs(), hasLeft },
          }
        : undefined,
    })
    return now
  }

  #everyMs(): number {
    const at = this.#clock.monotonicMs()
    if (this.#readAt !== undefined) this.#gaps = [...this.#gaps, at - this.#readAt].slice(-gapsMax)
    this.#readAt = at
    const longest = this.#gaps.length === 0 ? firstEveryMs : Math.max(...this.#gaps)
    return Math.round(Math.min(longestEveryMs, longest))
  }

  /** Unregisters, so that the next exporter is elected. */
  async leave(): Promise<void> {
    const { capabilities } = this.#driver
    if (this.#readAt === undefined || !capabilities.shared || !capabilities.workers) return
    await this.#register(true, true)
  }
}

function isThere({ seenAt, settings }: WorkerRow, now: EpochMs): boolean {
  if (settings['hasLeft'] === true) return false
  const everyMs = Number(settings['everyMs'] ?? firstEveryMs)
  return now - seenAt <= everyMs * patience.times + patience.ms
}

function byAge(a: WorkerRow, b: WorkerRow): number {
  return a.startedAt - b.startedAt || (a.holder < b.holder ? -1 : 1)
}
