import { checkNumber, checkObject, priorityDefault, priorityMax, priorityMin } from '@sluice/core'
import type { AddOptions } from './queue.ts'

/** Checks the options of an add; the priority. */
export function checkAddOptions(
  options: AddOptions | undefined,
  known: readonly string[] = ['priority'],
): number {
  if (options === undefined) return priorityDefault
  checkObject('options', options, known)
  return options.priority === undefined
    ? priorityDefault
    : checkNumber('options.priority', options.priority, {
        min: priorityMin,
        max: priorityMax,
        integer: true,
      })
}
