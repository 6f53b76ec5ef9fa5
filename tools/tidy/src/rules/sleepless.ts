import { isTest, type Repository } from '../repository.ts'

// What would make a test wait for the wall clock.
const sleeping = /\b(setTimeout|setInterval|Atomics\.wait|scheduler\.wait|node:timers)\b|pg_sleep/

/** A test that needs real time says why, on the line or on the one above. */
const excuse = /\breal time: \S+/

/** Tests step a clock or await what they wait for; they do not sleep and hope. */
export function sleepless(repository: Repository): string[] {
  const problems: string[] = []
  for (const [path, text] of repository) {
    if (!isTest(path)) continue
    const lines = text.split('\n')
    for (const [index, line] of lines.entries()) {
      if (!sleeping.test(line) || /^\s*(\/\/|\*)/.test(line)) continue
      if (excuse.test(line) || excuse.test(lines[index - 1] ?? '')) continue
      problems.push(
        `${path}:${index + 1}: a test that sleeps; say \`// real time: <why>\` if it must`,
      )
    }
  }
  return problems
}
