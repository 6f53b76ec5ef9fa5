import { keyMachine } from './key-machine.ts'
import { contradiction } from './linearizable.ts'
import { describeOperation, type History, type Operation } from './operation.ts'

type ClaimOf = Operation & { readonly action: { readonly verb: 'claim' } }

function claimsOf(operations: readonly Operation[]): ClaimOf[] {
  return operations.filter(
    (each): each is ClaimOf => each.action.verb === 'claim' && each.action.answer !== undefined,
  )
}

/** Acknowledged adds after which the key was never handed out: lost work. */
export function lostWork(history: History): Operation[] {
  return [...history.byKey().values()].flatMap((operations) => {
    const claims = claimsOf(operations)
    const cancels = operations.filter(
      ({ action }) => action.verb === 'cancel' && action.answer !== 'unchanged',
    )
    return operations.filter((each) => {
      const { action, start } = each
      if (
        action.verb !== 'add' ||
        action.answer === undefined ||
        action.answer.outcome === 'full'
      ) {
        return false
      }
      return ![...claims, ...cancels].some(({ end }) => end > start)
    })
  })
}

/** Claims of keys or items that no client can have added by then: invented work. */
export function inventedWork(history: History): Operation[] {
  return [...history.byKey().values()].flatMap((operations) =>
    claimsOf(operations).filter(({ action, end }) => {
      return !operations.some(
        (other) =>
          other.action.verb === 'add' &&
          other.start < end &&
          other.action.ask.item === action.answer?.item,
      )
    }),
  )
}

/**
 * Pairs of claims of one key that were certainly held at the same time: from the answer to a claim
 * until the first attempt to finish it, or until the lease had expired by the store's time.
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
  const token = claim.action.answer?.token
  let leaseUntil = claim.action.answer?.leaseUntil ?? -Infinity
  let until = Infinity
  for (const { action, start } of operations) {
    if (action.verb === 'finish' && action.finish.token === token) until = Math.min(until, start)
    if (action.verb === 'expire' && action.token === token) until = Math.min(until, start)
    if (action.verb === 'renew' && action.token === token && action.answer?.outcome === 'renewed') {
      leaseUntil = Math.max(leaseUntil, action.answer.leaseUntil)
    }
  }
  for (const { now, start } of history.operations) {
    if (start > claim.end && now >= leaseUntil) until = Math.min(until, start)
  }
  return until
}

/** Claims with a token that is not greater than that of a claim which was answered before. */
export function fallingTokens(history: History): (readonly [Operation, Operation])[] {
  const claims = claimsOf(history.operations).sort((a, b) => a.end - b.end)
  const falling: (readonly [Operation, Operation])[] = []
  for (const later of claims) {
    for (const earlier of claims) {
      if (earlier.end >= later.start) break
      const isRising = (later.action.answer?.token ?? 0) > (earlier.action.answer?.token ?? 0)
      if (!isRising) falling.push([earlier, later])
    }
  }
  return falling
}

function lines(operations: readonly Operation[]): string {
  return operations.map((each) => `  ${describeOperation(each)}`).join('\n')
}

/** Throws if no store that keeps its promises can produce the history. */
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
