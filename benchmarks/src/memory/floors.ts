import type { Contestant } from './workloads.ts'

/** As many members as a queue needs to finish the run of a key. */
class Handle {
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

/** What awaiting an add costs if the add itself costs nothing. */
export const oneAwait: Contestant = async ({ count }) => {
  for (let at = 0; at < count; at += 1) await added
}

/** What awaiting an add, a get and a done costs if there is no queue behind them. */
export const threeAwaits: Contestant = async ({ keys }) => {
  let token = 0
  for (const key of keys) {
    await added
    token += 1
    await Promise.resolve(new Handle(key, 1, token))
    await idle
  }
}
