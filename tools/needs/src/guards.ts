/**
 * Each case of a suite is guarded by a mutant that it catches, and each mutant is caught by a case.
 * To see that for all pairs takes minutes, so the pairs that were seen are kept in a file, and the
 * usual run repeats those alone.
 */
export interface Guards {
  /** A mutant that the case catches, by the case. */
  readonly guardOf: Readonly<Record<string, string>>
  /** A case that catches the mutant, by the mutant; only of mutants that guard no case. */
  readonly caughtBy: Readonly<Record<string, string>>
}

/** Which cases failed on which mutant, and how long each took, in milliseconds. */
export type Failures = ReadonlyMap<string, ReadonlyMap<string, number>>

/** The switch of the run in which every mutant meets every case. */
export const everyPair = process.env['SLUICE_EVERY_PAIR'] === '1'

/** The cases that the usual run has to see fail on a mutant. */
export function casesToSee({ guardOf, caughtBy }: Guards, mutant: string): string[] {
  const guarded = Object.keys(guardOf).filter((id) => guardOf[id] === mutant)
  const own = caughtBy[mutant]
  return own === undefined ? guarded : [...guarded, own]
}

/** The pairs of before that still hold, and the quickest for what is new. */
export function chooseGuards(failures: Failures, before: Guards): Guards {
  const guardOf: Record<string, string> = {}
  const quickest = new Map<string, number>()
  for (const [mutant, failed] of failures) {
    for (const [id, ms] of failed) {
      if (failures.get(before.guardOf[id] ?? '')?.has(id)) {
        guardOf[id] = before.guardOf[id] as string
      } else if (ms < (quickest.get(id) ?? Number.POSITIVE_INFINITY)) {
        guardOf[id] = mutant
        quickest.set(id, ms)
      }
    }
  }
  const guards = new Set(Object.values(guardOf))
  const caughtBy: Record<string, string> = {}
  for (const [mutant, failed] of failures) {
    if (guards.has(mutant)) continue
    const kept = before.caughtBy[mutant]
    const [first] = [...failed].sort(([, one], [, other]) => one - other)
    if (kept !== undefined && failed.has(kept)) caughtBy[mutant] = kept
    else if (first !== undefined) caughtBy[mutant] = first[0]
  }
  return { guardOf: sorted(guardOf), caughtBy: sorted(caughtBy) }
}

function sorted(record: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** The text of the file. */
export function guardsText(guards: Guards): string {
  return `${JSON.stringify(guards, null, 2)}\n`
}
