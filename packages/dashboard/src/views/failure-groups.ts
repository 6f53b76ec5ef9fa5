import type { KeyInfo } from 'sluice'
import type { FailureGroup } from '../wire.ts'
import type { KeyDisplay } from './key-display.ts'

/** The maximum number of groups. */
const groupsMax = 50

/** The maximum length of a group's message. */
const messageMax = 300

type Group = { -readonly [Name in keyof FailureGroup]: FailureGroup[Name] }

/** The message with numbers and ids replaced, so that messages of one kind compare equal. */
function likeness(message: string): string {
  return message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\b0x[0-9a-f]+\b|\d+/gi, '#')
}

/** Groups of equal failures, the group with the most keys first. */
export function failureGroups(
  queue: string,
  keys: readonly KeyInfo[],
  display: KeyDisplay,
): FailureGroup[] {
  const groups = new Map<string, Group>()
  for (const { key, failures, lastError } of keys) {
    if (lastError === undefined || failures === 0) continue
    const { name, code, message } = display.error(lastError, { queue, key })
    // A code identifies the kind of error better than its message.
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
