import { keyMachine } from './key-machine.ts'
import { contradiction } from './linearizable.ts'
import { type History, type Operation, told } from './operation.ts'

type ClaimOf = Operation & { readonly deed: { readonly verb: 'claim' } }

function claimsOf(operations: readonly Operation[]): ClaimOf[] {
  return operations.filter(
    (each): each is ClaimOf => each.deed.verb === 'claim' && each.deed.answer !== undefined,
  )
}

/** Adds that were accepted, and after which the key was never handed out: lost work. */
export function lostWork(history: History): Operation[] {
  return [...history.byKey().values()].flatMap((operations) => {
    const claims = claimsOf(operations)
    const cancels = operations.filter(
      ({ deed }) => deed.verb === 'cancel' && deed.answer !== 'unchanged',
    )
    return operations.filter((each) => {
      const { deed, start } = each
      if (deed.verb !== 'add' || deed.answer === undefined || deed.answer.outcome === 'full') {
        return false
      }
      return ![...claims, ...cancels].some(({ end }) => end > start)
    })
  })
}

/** Claims of keys, or of items, that nobody can have added by then: invented work. */
export function inventedWork(history: History): Operation[] {
  return [...history.byKey().values()].flatMap((operations) =>
    claimsOf(operations).filter(({ deed, end }) => {
      return !operations.some(
        (other) =>
          other.deed.verb === 'add' &&
          other.start < end &&
          other.deed.ask.item === deed.answer?.item,
      )
    }),
  )
}

/**
 * Pairs of claims of one key that were surely held at the same time: from the answer to a claim
 * until somebody tried to give the key back, or the lease was over by the store's time.
 */
export function overlappingWork(history: History): (readonly [Operation, Operation])[] {
  return [...history.byKey().values()].flatMap((operations) => {
    const spans = claimsOf(operations).map((claim) => {
      return { claim, from: claim.end, until: surelyHeldUntil(claim, operations, history) }
    })
    return spans.flatMap(({ claim, from, until }, index) =>
      spans
        .slice(index + 1)
        .filter((other) => from < other.until && other.from < until)
        .map((other) => [claim, other.claim] as const),
    )
  })
}

function surelyHeldUntil(
  claim: ClaimOf,
  operations: readonly Operation[],
  history: History,
): number {
  const token = claim.deed.answer?.token
  let leaseUntil = claim.deed.answer?.leaseUntil ?? -Infinity
  let until = Infinity
  for (const { deed, start } of operations) {
    if (deed.verb === 'finish' && deed.finish.token === token) until = Math.min(until, start)
    if (deed.verb === 'expire' && deed.token === token) until = Math.min(until, start)
    if (deed.verb === 'renew' && deed.token === token && deed.answer?.outcome === 'renewed') {
      leaseUntil = Math.max(leaseUntil, deed.answer.leaseUntil)
    }
  }
  for (const { now, start } of history.operations) {
    if (start > claim.end && now >= leaseUntil) until = Math.min(until, start)
  }
  return until
}

/** Claims with a token that is not greater than that of a claim which was over before they began. */
export function fallingTokens(history: History): (readonly [Operation, Operation])[] {
  const claims = claimsOf(history.operations).sort((a, b) => a.end - b.end)
  const falling: (readonly [Operation, Operation])[] = []
  for (const later of claims) {
    for (const earlier of claims) {
      if (earlier.end >= later.start) break
      const isRising = (later.deed.answer?.token ?? 0) > (earlier.deed.answer?.token ?? 0)
      if (!isRising) falling.push([earlier, later])
    }
  }
  return falling
}

function lines(operations: readonly Operation[]): string {
  return operations.map((each) => `  ${told(each)}`).join('\n')
}

/** Throws if a history cannot be that of a store which keeps its promises. */
export function checkHistory(history: History): void {
  const lost = lostWork(history)
  if (lost.length > 0) throw new Error(`work was lost:\n${lines(lost)}`)
  const invented = inventedWork(history)
  if (invented.length > 0) throw new Error(`work was invented:\n${lines(invented)}`)
  for (const pair of overlappingWork(history)) {
    throw new Error(`two claims of one key were held at the same time:\n${lines(pair)}`)
  }
  for (const pair of fallingTokens(history)) {
    throw new Error(`a later claim has no greater token:\n${lines(pair)}`)
  }
  for (const [key, operations] of history.byKey()) {
    const found = contradiction(operations, keyMachine)
    if (found === undefined) continue
    const { order, stuck } = found
    throw new Error(
      `no order of these calls of ${key} explains their answers; this far it goes:\n${lines(
        order,
      )}\nand then none of these can come next:\n${lines(stuck)}`,
    )
  }
}
