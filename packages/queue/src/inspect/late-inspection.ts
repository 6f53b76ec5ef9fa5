import { type Awaitable, isPromise } from '@sluice/core'
import { inspectionPart } from '#parts'
import type { QueueCore } from '../core/queue-core.ts'
import { lateCalls } from '../environment/late.ts'
import type { Inspect } from './inspect.ts'
import { checkFilter, type KeyFilter, type Selection } from './selection.ts'

const calls = [
  ...(['counts', 'list', 'get', 'explain', 'workers', 'history', 'failedRuns', 'oldest'] as const),
  ...(['pause', 'resume', 'park', 'unpark', 'runNow', 'release', 'forget', 'remove'] as const),
  'purge',
] as const

const callsOnSelection = ['count', 'park', 'unpark', 'runNow', 'forget', 'remove'] as const

/** The inspection of a queue, which is loaded by its first call. `core`: see `QueueInspection`. */
export function lateInspection(core: () => QueueCore): Inspect {
  let made: Inspect | undefined
  const make = ({ QueueInspection }: Awaited<ReturnType<typeof inspectionPart.get>>): Inspect => {
    made ??= new QueueInspection(core)
    return made
  }
  const get = (): Awaitable<Inspect> => {
    if (made !== undefined) return made
    const module = inspectionPart.get()
    return isPromise(module) ? module.then(make) : make(module)
  }
  const select = (filter: KeyFilter): Selection => {
    const checked = checkFilter(filter)
    let selection: Selection | undefined
    const selected = (inspect: Inspect): Selection => {
      selection ??= inspect.select(checked)
      return selection
    }
    return lateCalls<Selection, keyof Selection>(callsOnSelection, () => {
      const inspect = get()
      return isPromise(inspect) ? inspect.then(selected) : selected(inspect)
    })
  }
  return { ...lateCalls<Inspect, (typeof calls)[number]>(calls, get), select }
}
