import { type SluiceEvent, sluiceChannel, type TracedVerb } from '@sluice/core'
import { onTestFinished } from 'vitest'

/** What the store has answered to calls of one verb so far, until the test has finished. */
export function answersTo(verb: TracedVerb): readonly SluiceEvent[] {
  const answers: SluiceEvent[] = []
  const answered = (event: SluiceEvent) => {
    // Of a call that is answered later, the synchronous half ends without a result.
    if (event.verb === verb && ('result' in event || 'error' in event)) answers.push(event)
  }
  const listener = { end: answered, asyncEnd: answered }
  sluiceChannel.subscribe(listener as never)
  onTestFinished(() => sluiceChannel.unsubscribe(listener as never))
  return answers
}
