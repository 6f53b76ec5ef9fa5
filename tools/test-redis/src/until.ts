/** How often a state of other processes is looked at, and for how long, in milliseconds. */
const lookMs = 10
const withinMs = 120_000

/** Waits until `isSo` answers true. An error counts as false until the timeout. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const endAt = performance.now() + withinMs
  for (;;) {
    // Before the look: where this process was held up, what is awaited may have come meanwhile.
    const isLast = performance.now() > endAt
    let failure: unknown
    try {
      if (await isSo()) return
    } catch (error) {
      failure = error
    }
    if (isLast) {
      throw new Error(`${what}: not within ${withinMs} ms`, { cause: failure })
    }
    // real time: Redis reports neither the end of a synchronization nor that of an election.
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}
