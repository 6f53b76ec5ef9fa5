// A queue and a worker on a stepped clock, which can go back: what was done is recorded, and an
// earlier moment is reached by doing it again from the start.
import {
  createRateLimitingQueue,
  createWorker,
  exponential,
  memoryDriver,
  TerminalError,
} from 'sluice'
import { fakeClock } from 'sluice/testing'

export const runMs = 2_000
export const slots = 2
const startMs = Date.UTC(2025, 0, 1)

export class Playground {
  /** What was done and when, in milliseconds since the start. */
  actions = []
  /** The runs of all keys since the start. */
  runs = []
  #clock
  #queue
  #failing = new Set()
  #isBroken = false
  #applied = 0
  #turn = Promise.resolve()

  constructor() {
    this.#start()
  }

  #start() {
    this.#clock = fakeClock(startMs)
    this.#failing = new Set()
    this.#isBroken = false
    this.#applied = 0
    this.runs = []
    this.#queue = createRateLimitingQueue({
      name: 'orders',
      driver: memoryDriver(),
      clock: this.#clock,
      limiter: exponential({ baseMs: 1_000, maxMs: 60_000 }),
      onError: () => {},
    })
    createWorker({
      queue: this.#queue,
      concurrency: slots,
      handler: (key) => this.#handle(key),
      onError: () => {},
    })
  }

  async #handle(key) {
    const run = { key, from: this.nowMs, to: undefined, ok: undefined }
    this.runs.push(run)
    await new Promise((resolve) => {
      this.#clock.startTimer(runMs, resolve)
    })
    run.to = this.nowMs
    run.ok = !this.#isBroken && !this.#failing.has(key)
    if (run.ok) return
    if (this.#isBroken) throw new Error('the database behind the handler does not answer')
    throw new Error(`${key} is refused`)
  }

  /** Milliseconds since the start. */
  get nowMs() {
    return this.#clock.now() - startMs
  }

  /** Does something now. What was done later than now is forgotten: this is another history. */
  act(what, key) {
    return this.#inTurn(async () => {
      const action = { at: this.nowMs, what, key }
      this.actions = [...this.actions.slice(0, this.#applied), action]
      await this.#apply(action)
      await this.#clock.step(0)
    })
  }

  /** Lets time pass. */
  wait(ms) {
    return this.#inTurn(() => this.#reach(this.nowMs + ms))
  }

  /** Goes to a moment, also an earlier one. */
  goTo(ms) {
    return this.#inTurn(() => this.#reach(ms))
  }

  async #reach(ms) {
    if (ms < this.nowMs) {
      const { actions } = this
      await this.#end()
      this.#start()
      this.actions = actions
    }
    for (;;) {
      const next = this.actions[this.#applied]
      if (next === undefined || next.at > ms) break
      await this.#clock.step(next.at - this.nowMs)
      await this.#apply(next)
      await this.#clock.step(0)
    }
    await this.#clock.step(ms - this.nowMs)
  }

  /** Begins again without a past. */
  reset() {
    return this.#inTurn(async () => {
      await this.#end()
      this.actions = []
      this.#start()
    })
  }

  async #end() {
    const closed = this.#queue.close({ graceMs: 0 })
    await this.#clock.step(60_000)
    await closed
  }

  async #apply({ what, key }) {
    this.#applied += 1
    const { inspect } = this.#queue
    if (what === 'add') await this.#queue.add(key)
    else if (what === 'add later') await this.#queue.addAfter(key, 5_000)
    else if (what === 'fail') this.#failing.add(key)
    else if (what === 'succeed') this.#failing.delete(key)
    else if (what === 'break') this.#isBroken = true
    else if (what === 'fix') this.#isBroken = false
    else if (what === 'park') await inspect.park(key)
    else if (what === 'unpark') await inspect.unpark(key)
    else if (what === 'run now') await inspect.runNow(key)
    else if (what === 'pause') await inspect.pause()
    else if (what === 'resume') await inspect.resume()
    else throw new TerminalError(`nothing is called ${what}`)
  }

  /** What can be seen now; with a key, what is known of that one. */
  look(key) {
    return this.#inTurn(async () => {
      const { inspect } = this.#queue
      const [{ keys }, counts] = await Promise.all([inspect.list(), inspect.counts()])
      return {
        nowMs: this.nowMs,
        keys: keys.map((info) => ({
          key: info.key,
          state: info.state,
          failures: info.failures,
          dueInMs: info.dueAt === undefined ? undefined : info.dueAt - this.#clock.now(),
          isFailing: this.#failing.has(info.key),
          runs: this.runs.filter((run) => run.key === info.key).length,
        })),
        counts,
        isBroken: this.#isBroken,
        runs: this.runs.map((run) => ({ ...run })),
        explanation: key === undefined ? undefined : await inspect.explain(key),
      }
    })
  }

  /** One call after the other: a step that is under way ends first. */
  #inTurn(call) {
    const result = this.#turn.then(call)
    this.#turn = result.catch(() => {})
    return result
  }
}

/** Why a key is not running, as one sentence. */
export function sentenceOf({ state, conditions, blockedBy, retry, next, inspectedAt }) {
  if (state === 'absent') return 'The queue does not know this key.'
  if (state === 'processing')
    return 'A worker is running it. If it is added now, it runs once more.'
  if (state === 'dirty') return 'A worker is running it, and it was added again: it runs once more.'
  if (state === 'idle') return 'Nothing is pending. Only its failure count is kept.'
  const because = conditions.find(({ code }) => code === blockedBy)
  const seconds = next === undefined ? undefined : Math.max(0, next.at - inspectedAt) / 1_000
  const then =
    seconds === undefined ? '' : ` In ${seconds.toFixed(1).replace('.0', '')} s it is ${next.to}.`
  const delay = state === 'backoff' && retry !== undefined ? ` Delay: ${retry.words}.` : ''
  const evidence = because?.evidence ?? 'it waits for a worker to take it'
  return `${evidence[0].toUpperCase()}${evidence.slice(1)}.${then}${delay}`
}
