import { type ActedRequest, type SluiceEvent, sluiceChannel } from '@sluice/core'
import type { Clock, Driver } from 'sluice'
import type { LiveViews } from '../live/live-views.ts'
import { refusalOf } from '../http/http-error.ts'
import type { ActionRequest, ActionResult } from '../wire.ts'

/** Tells of what people do: those who watch, and whoever subscribes to the channel of Sluice. */
export class Auditing {
  readonly #driver: Driver
  readonly #clock: Clock
  readonly #live: LiveViews

  constructor(driver: Driver, clock: Clock, live: LiveViews) {
    this.#driver = driver
    this.#clock = clock
    this.#live = live
  }

  /** Does something, and tells who did it and what came of it. */
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
    this.#live.audit({ at: this.#clock.now(), queue, action, who, words })
    if (!sluiceChannel.hasSubscribers) return
    // Not the item: who subscribes may write it down.
    const acted: ActedRequest = { who, action, words, ...(key === undefined ? {} : { key }) }
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

/** What was done, and to what. */
function aimed({ key, all }: ActionRequest, words: string): string {
  if (key !== undefined) return `${key}: ${words}`
  return all === undefined ? words : `${words} (all of ${JSON.stringify(all)})`
}
