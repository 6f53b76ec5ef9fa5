import { SluiceError } from '@sluice/core'
import type { Context } from '../context.ts'
import { formatSpan } from '../duration.ts'
import { oneLine } from '../output/escape.ts'
import { aborted, wait } from '../wait.ts'

/** The default interval of a watch, in milliseconds. */
const intervalMsDefault = 2_000

/** The minimum interval, in milliseconds, which limits the load on the store. */
const intervalMsMin = 100

/** The interval of a watch, in milliseconds. */
export function intervalOf({ input }: Context): number {
  return Math.max(intervalMsMin, input.durationMs('interval') ?? intervalMsDefault)
}

/** What a read has found; nothing once the signal is aborted, also of a store that does not answer. */
async function readUntil<T>(
  read: () => Promise<T>,
  until: AbortSignal,
): Promise<{ readonly found: T } | undefined> {
  const abort = aborted(until)
  try {
    const found = await Promise.race([read(), abort.promise])
    return until.aborted ? undefined : { found }
  } catch (error) {
    if (until.aborted) return undefined
    throw error
  } finally {
    abort.forget()
  }
}

/**
 * Reads a store at the interval of a watch, until `until` is aborted.
 *
 * The first read must succeed: a wrong address must not be tried for ever. Later ones go on through
 * errors that may pass, such as a restart of the store; `warn` is called with the first of them.
 */
export async function* repeatedReads<T>(
  context: Context,
  until: AbortSignal,
  read: () => Promise<T>,
  warn: (text: string) => Promise<void> = (text) => context.print.warn(text),
): AsyncGenerator<T, void> {
  const intervalMs = intervalOf(context)
  const first = await readUntil(read, until)
  if (first === undefined) return
  yield first.found
  let isFailing = false
  while (await wait(context.terminal.clock, intervalMs, until)) {
    try {
      const next = await readUntil(read, until)
      if (next === undefined) return
      isFailing = false
      yield next.found
    } catch (error) {
      if (!(SluiceError.is(error) && error.retryable)) throw error
      if (isFailing) continue
      isFailing = true
      const message = oneLine(context.secrets.redact(error.message))
      await warn(`${message}; trying again every ${formatSpan(intervalMs)}`)
    }
  }
}
