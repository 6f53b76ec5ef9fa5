/**
 * One side of `working` in a process of its own: `working-side.ts URL SIDE`. Takes turns on request, and
 * answers how long each took.
 */
import { connectTo } from './server.ts'
import { type HandlerMs, work, workerSides } from './worker-sides.ts'

/** A turn: how many keys before and while it is measured, how many handlers at a time, and what they do. */
export interface Turn {
  readonly before: number
  readonly keys: number
  readonly concurrency: number
  readonly handlerMs: HandlerMs
}

/** What is asked for: the keys of a turn are added, or the turn is taken. */
export interface Request {
  readonly what: 'fill' | 'work'
  readonly turn: Turn
}

const [url = '', name = ''] = process.argv.slice(2)
const server = connectTo(url)
const side = await workerSides[name]!(server)

async function take({ before, keys, concurrency, handlerMs }: Turn): Promise<number> {
  const started = Promise.withResolvers<void>()
  let left = before + keys
  let begunAt = 0
  const handler = async (): Promise<void> => {
    if (left === keys) begunAt = performance.now()
    left -= 1
    if (left === 0) started.resolve()
    await work(handlerMs)
  }
  await side.work(concurrency, handler, started.promise)
  const ms = performance.now() - begunAt
  if (left !== 0) throw new Error(`${name}: ${left} keys were not handled, or too many`)
  return ms
}

process.on('message', async ({ what, turn }: Request) => {
  if (what === 'work') process.send?.(await take(turn))
  else {
    await side.fill(
      Array.from({ length: turn.before + turn.keys }, (_, at) => `namespace/object-${at}`),
    )
    process.send?.(0)
  }
})
process.on('disconnect', async () => {
  await side.end()
  await server.end()
})
process.send?.(0)
