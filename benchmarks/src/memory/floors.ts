import type { Contestant } from './workloads.ts'

/** As many members as a queue needs to finish the run of a key. */
export class Handle {
  readonly key: string
  readonly row: number
  readonly token: number

  constructor(key: string, row: number, token: number) {
    this.key = key
    this.row = row
    this.token = token
  }

  /** The promise that resolves with it need not look for a `then` in its prototypes. */
  // biome-ignore lint/suspicious/noThenProperty: it is no thenable, which is what this says.
  get then(): undefined {
    return undefined
  }
}

const added = Promise.resolve('added')
const idle = Promise.resolve('idle')
const forgotten = Promise.resolve('forgotten')

/** What awaiting an add costs if the add itself costs nothing. */
export const oneAwait: Contestant = async ({ count }) => {
  for (let at = 0; at < count; at += 1) await added
}

/** What awaiting an add, a get and a done costs if there is no queue behind them. */
export const threeAwaits: Contestant = async ({ keys }) => {
  for (let at = 0; at < keys.length; at += 1) {
    await added
    await Promise.resolve(new Handle(keys[at]!, 1, at))
    await idle
  }
}

/** What a delayed add costs if it only reads the clock. */
export const clockAndAwait: Contestant = async ({ keys }) => {
  let dueAt = 0
  for (let at = 0; at < keys.length; at += 1) {
    dueAt = Math.max(dueAt, performance.now())
    await added
  }
}

/** What a rate-limited requeue costs if it only reads the clock and passes the key on. */
export const clockAndFourAwaits: Contestant = async ({ keys }) => {
  const produce = async (): Promise<void> => {
    await clockAndAwait({ keys, count: keys.length, peak: () => undefined })
  }
  const consume = async (): Promise<void> => {
    for (let at = 0; at < keys.length; at += 1) {
      await Promise.resolve(new Handle(keys[at]!, 1, at))
      await forgotten
      await idle
    }
  }
  await Promise.all([produce(), consume()])
}

/** What it costs to hand each key to the first of four workers that wait, with no queue between. */
export const handOver: Contestant = async ({ keys }) => {
  const waiting: ((handle: Handle) => void)[] = []
  const early: Handle[] = []
  let left = keys.length
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      const handle = early.shift()
      await (handle === undefined
        ? new Promise<Handle>((resolve) => waiting.push(resolve))
        : Promise.resolve(handle))
      await idle
    }
  }
  const working = [work(), work(), work(), work()]
  for (let at = 0; at < keys.length; at += 1) {
    const handle = new Handle(keys[at]!, 1, at)
    const resolve = waiting.shift()
    if (resolve === undefined) early.push(handle)
    else resolve(handle)
    await added
  }
  await Promise.all(working)
}
