/** What the direct door of the memory driver does not promise, and why. */
export const directDoorExceptions: Readonly<Record<string, string>> = {
  'failures.expire.idle': 'the shorter add of the door is not told when failures expire',
}
