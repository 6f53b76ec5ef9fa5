import type { KeyInfo } from 'sluice'
import type { KeyDisplay } from './find-keys.ts'
import type { FailureGroup } from '../wire.ts'

/** How many groups are shown. */
const groupsMax = 50

/** How much of a message is shown of a group. */
const messageMax = 300

type Group = { -readonly [Name in keyof FailureGroup]: FailureGroup[Name] }

/** A message without what differs from one time to the next: numbers, and what looks like an id. */
function likeness(message: string): string {
  return message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\b0x[0-9a-f]+\b|\d+/gi, '#')
}

/** Failures that look the same, those of most keys first. */
export function failureGroups(
  queue: string,
  keys: readonly KeyInfo[],
  display: KeyDisplay,
): FailureGroup[] {
  const groups = new Map<string, Group>()
  for (const { key, failures, lastError } of keys) {
    if (lastError === undefined || failures === 0) continue
    const { name, code, message } = display.error(lastError, { queue, key })
    // A code says what kind it is better than words do.
    const id = JSON.stringify(code === undefined ? [name, likeness(message)] : [name, code])
    const group = groups.get(id)
    if (group === undefined) {
      groups.set(id, {
        name,
        message: message.slice(0, messageMax),
        keys: 1,
        failures,
        example: key,
        ...(code === undefined ? {} : { code }),
      })
    } else {
      group.keys += 1
      group.failures += failures
    }
  }
  const most = [...groups.values()].sort((a, b) => b.keys - a.keys || b.failures - a.failures)
  return most.slice(0, groupsMax)
}
