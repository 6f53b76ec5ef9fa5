import type { Driver } from '@sluice/core'
import { createQueue, createWorker, type Queue, type Worker } from 'sluice'

/** What was noticed of the keys that were added. */
export interface LoadReport {
  readonly acknowledged: number
  /** Acknowledged keys that did not run. */
  readonly lost: number
  /** Runs of a key after its first. */
  readonly again: number
  readonly crashes: number
  /** The codes of the errors that adds were rejected with. */
  readonly codes: ReadonlySet<string>
}

/** How often the keys are looked at that have not run, at the end. */
const turnsMax = 15_000

/** One process that adds keys, each once, and works on them, while a test breaks its store. */
export class SteadyLoad {
  readonly queue: Queue<string>
  readonly #worker: Worker
  readonly #runs = new Map<string, number>()
  readonly #acknowledged: string[] = []
  readonly #codes = new Set<string>()
  readonly #adding: Promise<void>
  #crashes = 0
  #isAdding = true

  constructor(driver: Driver, name = 'orders') {
    // As long as possible: a busy machine may load the client for longer than an add waits by default.
    this.queue = createQueue<string>({ name, driver, timeoutMs: 600_000, onError() {} })
    this.#worker = createWorker({
      queue: this.queue,
      concurrency: 20,
      handler: async (key, { crashes }) => {
        this.#runs.set(key, (this.#runs.get(key) ?? 0) + 1)
        if (crashes > 0) this.#crashes += 1
      },
      onError() {},
    })
    this.#adding = this.#add()
  }

  /** Waits until so many more adds have been acknowledged and run. */
  async progress(count: number): Promise<void> {
    const acknowledged = this.#acknowledged.length + count
    const runs = this.#runs.size + count
    while (this.#acknowledged.length < acknowledged || this.#runs.size < runs) await turn()
  }

  /** Stops adding, lets every key run, and says what happened. */
  async end(): Promise<LoadReport> {
    this.#isAdding = false
    await this.#adding
    const isLost = (key: string): boolean => !this.#runs.has(key)
    // Not a time: a machine that holds everything up for as long has lost nothing.
    for (let turns = 0; turns < turnsMax && this.#acknowledged.some(isLost); turns += 1)
      await turn()
    await this.#worker.stop()
    await this.queue.close()
    const runs = [...this.#runs.values()]
    return {
      acknowledged: this.#acknowledged.length,
      lost: this.#acknowledged.filter(isLost).length,
      again: runs.reduce((sum, count) => sum + count - 1, 0),
      crashes: this.#crashes,
      codes: this.#codes,
    }
  }

  async #add(): Promise<void> {
    for (let batch = 0; this.#isAdding; batch += 1) {
      const keys = Array.from({ length: 10 }, (_, at) => `key ${batch} ${at}`)
      try {
        await this.queue.addMany(keys)
        this.#acknowledged.push(...keys)
      } catch (error) {
        this.#codes.add(String((error as { code?: string }).code))
      }
      await turn()
    }
  }
}

async function turn(): Promise<void> {
  // real time: servers are at work meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 2))
}
