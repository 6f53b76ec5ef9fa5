import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Server } from './server.ts'
import { record, type Samples } from './turns.ts'
import { type HandlerMs, workerSides } from './worker-sides.ts'
import type { Request, Turn } from './working-side.ts'

const program = join(import.meta.dirname, 'working-side.ts')

/** A side in a process of its own. */
class Side {
  readonly name: string
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(url: string, name: string) {
    this.name = name
    this.#child = fork(program, [url, name], { execArgv: process.execArgv })
    this.#ended = once(this.#child, 'exit')
  }

  /** The next answer: that it is ready, or how long a turn took. */
  async answer(request?: Request): Promise<number> {
    const failed = this.#ended.then(() => Promise.reject(new Error(`${this.name} has ended`)))
    const answered = once(this.#child, 'message')
    if (request !== undefined) this.#child.send(request)
    const [ms] = (await Promise.race([answered, failed])) as [number]
    return ms
  }

  async end(): Promise<void> {
    this.#child.disconnect()
    await this.#ended
  }
}

/**
 * Workers that take turns on keys that are there before they start. Each side has a process of its own, and
 * the first third of each turn is not measured: it pays for connections that were dropped, memory that
 * was put aside and code that was thrown away during the turns of the others, which can take as long as
 * the rest.
 */
export async function working(server: Server, keys: number, rounds: number): Promise<Samples> {
  const samples: Samples = {}
  const only = process.env['SLUICE_BENCH_ONLY']
  const concurrencies = (process.env['SLUICE_BENCH_CONCURRENCY'] ?? '10,24').split(',').map(Number)
  const durations = (process.env['SLUICE_BENCH_HANDLER_MS'] ?? '0,1,5,20')
    .split(',')
    .map((text) => Number(text) as HandlerMs)
  const sides: Side[] = []
  for (const name of Object.keys(workerSides)) {
    if (only !== undefined && !only.split(',').some((part) => name.includes(part))) continue
    const side = new Side(server.url, name)
    await side.answer()
    sides.push(side)
  }
  for (const concurrency of concurrencies) {
    for (const handlerMs of durations) {
      // About as long for each duration, and not longer than all keys take.
      const most = handlerMs === 0 ? keys : Math.round((concurrency / handlerMs) * 2_000)
      const measured = Math.min(keys, most)
      const turn: Turn = { before: Math.ceil(measured / 2), keys: measured, concurrency, handlerMs }
      for (let round = 0; round <= rounds; round += 1) {
        for (const side of sides) {
          await side.answer({ what: 'fill', turn })
          await server.sql('checkpoint')
          const ms = await side.answer({ what: 'work', turn })
          const name = `concurrency ${concurrency}, handlers of ${handlerMs} ms | ${side.name}`
          // The first round pays for what is not compiled yet.
          if (round > 0) record(samples, name, { perMs: turn.keys / ms })
        }
      }
    }
  }
  for (const side of sides) await side.end()
  return samples
}
