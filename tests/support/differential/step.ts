import type { Chance } from '@sluice/conformance'
import type { BothSides } from './both-sides.ts'

/** One step: done to the driver and to the model, and compared. Says in words what it did. */
export type Step = (sides: BothSides, queue: string, chance: Chance) => Promise<string>
