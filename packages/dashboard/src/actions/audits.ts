import { type ActedRequest, type SluiceEvent, sluiceChannel } from '@sluice/core'
import type { Clock, Driver } from 'sluice'
import { refusalOf } from '../http/http-error.ts'
import type { LiveViews } from '../live/live-views.ts'
import type { ActionRequest, ActionResult } from '../wire.ts'

/** Announces the actions of visitors, to open pages and on the diagnostics channel of Sluice. */
export class Audits {
  readonly #driver: Driver
  readonly #clock: Clock
  readonly #live: LiveViews

  constructor(driver: Driver, clock: Clock, live: LiveViews) {
    this.#driver = driver
    this.#clock = clock
    this.#live = live
  }

  /** Runs an action and announces the visitor, the action and its result. */
  async audited(
    who: string,
    request: ActionRequest,
    act: () => Promise<ActionResult>,
  ): Promise<ActionResult> {
    try {
      const result = await act()
      this.#tell(who, request, result.words)
      return result
    } catch (error) {
      this.#tell(who, request, `It failed: ${refusalOf(error).message}`, error)
      throw error
    }
  }

  #tell(who: string, request: ActionRequest, outcome: string, error?: unknown): void {
    const { queue, action, key } = request
    const words = aimed(request, outcome)
    // Without the item: a subscriber may log the event.
    const acted: ActedRequest = { who, action, words, ...(key === undefined ? {} : { key }) }
    this.#live.announce({ at: this.#clock.now(), queue, ...acted, action })
    if (!sluiceChannel.hasSubscribers) return
    const event: SluiceEvent = {
      verb: 'acted',
      queue,
      driver: this.#driver.name,
      source: this.#driver,
      holder: 'dashboard',
      request: acted,
      ...(error === undefined ? {} : { error }),
    }
    void sluiceChannel.start.runStores(event, () => {
      sluiceChannel.end.publish(event)
    })
  }
}

/** The result, with the key or the filter it applies to. */
function aimed({ key, all }: ActionRequest, words: string): string {
  if (key !== undefined) return `${key}: ${words}`
  return all === undefined ? words : `${words} (all of ${JSON.stringify(all)})`
}
