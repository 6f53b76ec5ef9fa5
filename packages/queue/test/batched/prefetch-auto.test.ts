import type { ClaimRequest, Finish } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { createWorker } from '../../src/index.ts'
import { heldKeys } from '../support/held-keys.ts'
import { late, Scene } from '../support/setups.ts'

/** A worker over a store that takes a given time for claims and finishes, with handlers that do, too. */
class Timed {
  readonly scene = new Scene(late)
  readonly started: string[] = []
  claimMs = 10
  finishMs = 0
  handlerMs = 1

  constructor() {
    const driver = this.scene.late
    driver.after = async ({ verb }) => {
      const ms = verb === 'claim' ? this.claimMs : verb === 'finish' ? this.finishMs : 0
      if (ms === 0) return
      driver.inFlight -= 1
      await this.#wait(ms)
      driver.inFlight += 1
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.scene.clock.startTimer(ms, resolve))
  }

  start(concurrency: number): void {
    const queue = this.scene.queue({ prefetch: 'auto' })
    createWorker({
      queue,
      concurrency,
      handler: async (item) => {
        this.started.push(item)
        await this.#wait(this.handlerMs)
      },
    })
  }

  async pass(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 1) await this.scene.clock.step(1)
  }

  /** The keys that were given back without a run. */
  released(): ReadonlySet<string> {
    const finishes = (this.scene.late.requests('finish') as (readonly Finish[])[]).flat()
    return new Set(finishes.filter(({ as }) => as === 'release').map(({ key }) => key))
  }

  limits(): number[] {
    return this.scene.late.requests('claim').map((request) => (request as ClaimRequest).limit)
  }
}

describe("prefetch: 'auto'", () => {
  const many = Array.from({ length: 3_000 }, (_, at) => `k${at}`)

  test('claims ahead what is started within two round trips of a claim', async () => {
    const timed = new Timed()
    await timed.scene.queue().addMany(many)
    timed.start(4)
    await timed.pass(60)
    expect(Math.max(...timed.limits().slice(0, 2))).toBe(4)
    await timed.pass(400)
    // Four handlers of 1 ms start 4 keys a millisecond, and two claims take 20 ms. One key more is
    // claimed for each slot.
    expect(Math.max(...timed.limits())).toBeLessThanOrEqual(88)
    const before = timed.started.length
    await timed.pass(50)
    expect(timed.started.length - before).toBeGreaterThan(180)
    expect((await heldKeys(timed.scene)).length).toBeLessThanOrEqual(88)
  })

  test('claims at most 1,000 keys ahead, however slow the store', async () => {
    const timed = new Timed()
    timed.claimMs = 300
    await timed.scene.queue().addMany(Array.from({ length: 9_000 }, (_, at) => `k${at}`))
    timed.start(4)
    await timed.pass(6_000)
    // Four handlers of 1 ms start 2,400 keys within two claims.
    expect(Math.max(...timed.limits())).toBeGreaterThan(500)
    expect(Math.max(...timed.limits())).toBeLessThanOrEqual(1_004)
    expect((await heldKeys(timed.scene)).length).toBeLessThanOrEqual(1_004)
  })

  test('claims nothing ahead of slow handlers', async () => {
    const timed = new Timed()
    timed.handlerMs = 1_000
    await timed.scene.queue().addMany(many)
    timed.start(40)
    await timed.pass(3_000)
    expect(timed.started.length).toBeGreaterThanOrEqual(80)
    expect(Math.max(...timed.limits())).toBeLessThanOrEqual(40)
  })

  test('gives back what handlers that have become slow do not start', async () => {
    const timed = new Timed()
    await timed.scene.queue().addMany(many)
    timed.start(4)
    await timed.pass(400)
    timed.handlerMs = 5_000
    await timed.pass(210)
    expect(await heldKeys(timed.scene)).toHaveLength(4)
  })

  test('keeps what a claim brings by the limits under which it was sent', async () => {
    const timed = new Timed()
    timed.finishMs = 15
    await timed.scene.queue().addMany(many)
    timed.start(4)
    await timed.pass(400)
    // The next claim is in flight while handlers become slow, with finishes that are not acknowledged.
    timed.claimMs = 60
    timed.finishMs = 60
    const claims = timed.limits().length
    while (timed.limits().length === claims) await timed.pass(1)
    timed.handlerMs = 30
    const [limit = 0] = timed.limits().slice(claims)
    expect(limit).toBeGreaterThan(20)
    const holding = new Set(await heldKeys(timed.scene))
    const brought = many.filter((key) => holding.has(key)).slice(-limit)
    // Longer than the finishes take that were in flight, and shorter than keys are kept.
    await timed.pass(120)
    expect(timed.limits()).toHaveLength(claims + 1)
    const released = brought.filter((key) => timed.released().has(key))
    // Two rounds of four runs have ended meanwhile, and their finishes count, too.
    expect(released.length).toBeLessThanOrEqual(8)
  })

  test('a key with a high priority waits for slots and what was claimed ahead at most', async () => {
    const timed = new Timed()
    await timed.scene.queue().addMany(many)
    timed.start(4)
    await timed.pass(400)
    const ahead = (await heldKeys(timed.scene)).length
    const before = timed.started.length
    await timed.scene.queue().add('urgent', { priority: 10 })
    await timed.pass(100)
    expect(timed.started.indexOf('urgent') - before).toBeLessThanOrEqual(2 * ahead)
  })
})
