import { type Awaitable, isPromise, type SluiceEvent, sluiceChannel } from '@sluice/core'

function observe<R>(event: SluiceEvent, call: () => Awaitable<R>): Awaitable<R> {
  const { end, asyncStart, asyncEnd, error: failed } = sluiceChannel
  let answer: Awaitable<R>
  try {
    answer = call()
  } catch (error) {
    event.error = error
    failed.publish(event)
    end.publish(event)
    throw error
  }
  if (!isPromise(answer)) {
    event.result = answer
    end.publish(event)
    return answer
  }
  end.publish(event)
  return answer.then(
    (result) => {
      event.result = result
      asyncStart.publish(event)
      asyncEnd.publish(event)
      return result
    },
    (error: unknown) => {
      event.error = error
      failed.publish(event)
      asyncStart.publish(event)
      asyncEnd.publish(event)
      throw error
    },
  )
}

/** Makes a call of a driver, and publishes it. */
export function traced<R>(event: SluiceEvent, call: () => Awaitable<R>): Awaitable<R> {
  return sluiceChannel.start.runStores(event, () => observe(event, call))
}

/** Publishes an event that is no call. */
export function notice(event: SluiceEvent): void {
  if (!sluiceChannel.hasSubscribers) return
  void sluiceChannel.start.runStores(event, () => {
    sluiceChannel.end.publish(event)
  })
}
