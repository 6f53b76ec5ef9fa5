import { type Mutant, verbMutant } from '../mutant.ts'

/** Correct for a few queues and holders; one fault each with hundreds of them. */
export const namesMutants: readonly Mutant[] = [
  verbMutant(
    'size-queues-paused',
    'with many queues, those without keys are resumed',
    (driver, store) => ({
      cancel(queue, keys) {
        const empty = [...store.queues.values()].filter((each) => each.keys.size === 0)
        if (empty.length > 64) for (const each of empty) each.paused = false
        return driver.cancel(queue, keys)
      },
    }),
  ),
  verbMutant('size-holders', 'of more than a thousand holders the first has no name', (driver) => {
    const holders = new Set<string>()
    return {
      claim(queue, request) {
        holders.add(request.holder)
        return driver.claim(queue, request)
      },
      list(queue, request) {
        const [first] = holders.size > 1_000 ? holders : []
        const { rows, ...rest } = driver.list(queue, request)
        const named = rows.map((row) =>
          row.holder === first ? { ...row, holder: undefined } : row,
        )
        return { ...rest, rows: named }
      },
    }
  }),
]
