import { Chance, type CreateSubject } from '@sluice/conformance'
import { BothSides } from './both-sides.ts'
import { steps } from './steps.ts'

/** How a differential run is made. */
export interface DifferentialOptions {
  readonly seed: number
  readonly steps: number
  /** Queues with keys of the same names, which share nothing but a bucket. */
  readonly queues?: number
}

/** After how many steps everything is compared. */
const compareEvery = 8

/** How many of the last steps a failure tells. */
const told = 25

/**
 * Does the same random steps to the drivers of a subject and to the model, with batches up to the
 * limits, and compares every answer and all that is stored. Says what was met, and how often.
 */
export async function differential(
  create: CreateSubject,
  options: DifferentialOptions,
): Promise<ReadonlyMap<string, number>> {
  const { seed, steps: count, queues = 4 } = options
  const chance = new Chance(seed)
  const sides = await BothSides.open(await create(), `differential ${seed}`, queues)
  const history: string[] = []
  try {
    for (let at = 0; at < count; at += 1) {
      // Most steps meet in one queue, so that it grows.
      const queue = chance.happens(0.7) ? sides.queues[0] : chance.pick(sides.queues)
      const step = chance.pick(steps)
      history.push(`${step.name} in ${queue}`)
      history.push(`${await step(sides, queue as string, chance)} in ${queue}`)
      history.splice(-2, 1)
      if (at % compareEvery === 0)
        for (const each of sides.queues) await sides.compare(each, chance)
    }
    for (const each of sides.queues) await sides.compare(each, chance)
    return sides.seen
  } catch (error) {
    const last = history.slice(-told).map((line) => `  ${line}`)
    throw new Error(`seed ${seed}, after ${history.length} steps:\n${last.join('\n')}`, {
      cause: error,
    })
  } finally {
    await sides.close()
  }
}

/** What a run has to have met, so that its being green says something about size. */
export const sightsOfSize: readonly string[] = [
  'a batch of more than 500 adds',
  'a claim of more than 500 keys',
  'a claim over more than 16 priorities',
  'a batch of more than 500 finishes',
  'a renewal of more than 250 leases',
  'more than 100 leases that end at once',
  'a queue of more than 300 keys',
  'a long item',
  'a lost lease',
  'a full queue',
]
