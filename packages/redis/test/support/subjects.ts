import type { CreateSubject, Subject } from '@sluice/conformance'
import { forkDriver } from '@sluice/conformance/other-process'
import { fakeClock } from '@sluice/core/testing'
import { bundled } from '@sluice/needs/bundled'
import { type RedisOptions, redisDriver } from '../../src/index.ts'

const program = new URL('../children/served-driver.ts', import.meta.url)

/** How the subjects of one examination differ from the usual. */
export interface SubjectOptions {
  /** Whether other processes are asked for. */
  readonly hasProcesses?: boolean
}

/** Subjects that share servers: the keys of each have a prefix of their own. */
export function subjectsOn(
  options: () => RedisOptions,
  { hasProcesses = false }: SubjectOptions = {},
): CreateSubject {
  let made = 0
  return (): Subject => {
    made += 1
    // Only ends what hangs: a machine, or its disk, may be held up for longer than the usual limit.
    const timeoutMs = 60_000
    const own: RedisOptions = { timeoutMs, ...options(), prefix: `s${made}:` }
    const make = () => redisDriver(own)
    return {
      driver: make(),
      clock: fakeClock(),
      restart: make,
      peer: make,
      ...(hasProcesses && {
        otherProcess: async () =>
          await forkDriver(await bundled(program), [JSON.stringify(own)], {
            execArgv: ['--experimental-strip-types', '--no-warnings', '--conditions=sluice-source'],
          }),
      }),
    }
  }
}
