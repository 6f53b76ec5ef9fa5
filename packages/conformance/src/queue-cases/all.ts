import type { Case } from '../case.ts'
import { acknowledgingCases } from './acknowledging.ts'
import { delayingCases } from './delaying.ts'
import { endingCases } from './ending.ts'
import { queueItemCases } from './items.ts'
import { leasingCases } from './leasing.ts'
import { loopingCases } from './looping.ts'
import type { QueueFactories } from './public-api.ts'
import type { QueueCase } from './queue-case.ts'
import { type Parts, QueueScene } from './queue-scene.ts'
import { quietingCases } from './quieting.ts'
import { storeErrorCases } from './store-errors.ts'
import { takingCases } from './taking.ts'
import { wakingCases } from './waking.ts'

/** Every case of the second half: the promises of a queue over any driver. */
export const allQueueCases: readonly QueueCase[] = [
  ...takingCases,
  ...queueItemCases,
  ...delayingCases,
  ...leasingCases,
  ...wakingCases,
  ...quietingCases,
  ...endingCases,
  ...loopingCases,
  ...acknowledgingCases,
  ...storeErrorCases,
]

/**
 * The second half as cases that run like those of the first: through the public queue that
 * `factories` create over the driver of a subject. `usual` is part of the options of every queue.
 */
export function queueCases(factories: QueueFactories, usual: Parts = {}): readonly Case[] {
  return allQueueCases.map((chosen) => ({
    id: chosen.id,
    title: chosen.title,
    ...(chosen.needs !== undefined && { needs: chosen.needs }),
    async run(scene) {
      const s = await QueueScene.begin(scene, factories, usual)
      try {
        await chosen.run(s)
      } finally {
        await s.end()
      }
    },
  }))
}
