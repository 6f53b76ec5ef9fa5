import type { Clock } from '@sluice/core'

/** How long to wait for other answers after the first, in milliseconds. */
const othersMs = 300

/**
 * The answer that most give. A node that is cut off from the others answers with what it knew before.
 * Undefined if nobody answers.
 */
export async function mostAgreed<T>(
  clock: Clock,
  asked: readonly Promise<T>[],
): Promise<T | undefined> {
  const votes = new Map<string, { readonly answer: T; count: number }>()
  const best = (): T | undefined => {
    const ranked = [...votes.values()].sort((one, other) => other.count - one.count)
    return ranked[0]?.answer
  }
  await new Promise<void>((resolve) => {
    const timer = clock.startTimer(othersMs, () => {
      if (votes.size > 0) resolve()
    })
    timer.stop()
    const count = (answer: T): void => {
      if (votes.size === 0) timer.reset(othersMs)
      const text = JSON.stringify(answer)
      const vote = votes.get(text) ?? { answer, count: 0 }
      votes.set(text, vote)
      vote.count += 1
      if (vote.count > asked.length / 2) resolve()
    }
    const counted = asked.map((one) => one.then(count, () => {}))
    void Promise.all(counted).then(() => {
      timer.stop()
      resolve()
    })
  })
  return best()
}
