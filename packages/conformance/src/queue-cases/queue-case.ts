import type { Needs } from '../case.ts'
import type { QueueScene } from './queue-scene.ts'

/** One promise of a queue over any driver, as data. */
export interface QueueCase {
  /** The promise as a dotted name. Stable: ids are API. */
  readonly id: string
  /** The promise as a sentence. */
  readonly title: string
  /** The capabilities without which the promise has no meaning. */
  readonly needs?: Needs
  /** Throws if the promise is broken. */
  run(scene: QueueScene): Promise<void>
}
