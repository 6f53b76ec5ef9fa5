import { endMutants } from './ends.ts'
import type { QueueMutant } from './mutant.ts'
import { quietingMutants } from './quieting.ts'
import { storeMutants } from './store.ts'
import { takingMutants } from './taking.ts'
import { valueMutants } from './values.ts'
import { workingMutants } from './working.ts'

/** Every mutant of the queue. */
export const queueMutants: readonly QueueMutant[] = [
  ...takingMutants,
  ...valueMutants,
  ...storeMutants,
  ...endMutants,
  ...workingMutants,
  ...quietingMutants,
]
