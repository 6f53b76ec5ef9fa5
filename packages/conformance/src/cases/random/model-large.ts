import assert from 'node:assert/strict'
import {
  type Ask,
  batchKeysMax,
  type Finish,
  keyBytesMax,
  type Lease,
  type LimiterPlan,
} from '@sluice/core'
import * as fc from 'fast-check'
import type { Case } from '../../case.ts'
import { Chance } from '../../histories/chance.ts'
import { assertAlike, failuresExpireMs, ModelRun, type PairedClaim } from '../../model/model-run.ts'
import type { Scene } from '../../scene/scene.ts'

const runsUsual = 60
const stepsUsual = 20

/** One history with many keys is run for this many histories with few keys. */
const runsPerLarge = 5

/** The number of different keys; more than a batch may have. */
const keysMax = 1_600

/** All keys, some of maximum length. */
const keys = Array.from({ length: keysMax }, (_, i) => {
  const name = `key ${i} `
  return i % 40 === 0 ? name.padEnd(keyBytesMax, 'x') : name
})

const sizes = [1, 3, 40, 150, 500, batchKeysMax]

/** A history of large batches, run on the driver and on the model in parallel. */
class LargeHistory {
  readonly #run: ModelRun
  readonly #chance: Chance
  readonly #operates: boolean
  readonly #restarts: boolean
  /** The steps so far, for the report. */
  readonly steps: string[] = []

  constructor(run: ModelRun, chance: Chance, able: Scene['driver']['capabilities']) {
    this.#run = run
    this.#chance = chance
    this.#operates = able.operate
    this.#restarts = able.durable
  }

  async step(): Promise<void> {
    const kinds = ['add', 'add', 'claim', 'claim', 'finish', 'finish', 'renew', 'expire', 'time']
    const some = ['cancel', 'forget', 'sweep']
    const more = this.#operates ? ['operate'] : []
    const last = this.#restarts ? ['restart'] : []
    const kind = this.#chance.pick([...kinds, ...kinds, ...some, ...more, ...more, ...last])
    const queue = this.#chance.pick(this.#run.queues)
    const via = this.#chance.below(3)
    this.steps.push(`${kind} in ${queue}`)
    await this.#act(kind, queue, via)
    await this.#run.compare()
  }

  async #act(kind: string, queue: string, via: number): Promise<void> {
    const run = this.#run
    switch (kind) {
      case 'add':
        return await this.#add(queue, via)
      case 'claim':
        return await this.#claim(queue, via)
      case 'finish':
        return await this.#finish(queue, via)
      case 'renew':
        return await this.#renew(queue, via)
      case 'expire':
        return await this.#expire(queue, via)
      case 'operate':
        return await this.#operate(queue, via)
      case 'restart':
        return await run.restart()
      case 'time':
        return await run.step(this.#chance.pick([1, 10, 60, 1_000]))
      case 'sweep':
        return await this.#sweep(queue)
      default: {
        const verb = kind as 'cancel' | 'forget'
        const named = this.#someKeys()
        await this.#sweep(queue)
        const real = await run.real(via)[verb](queue, named)
        assert.deepEqual(real, run.model[verb](queue, named))
      }
    }
  }

  /**
   * Deletes expired failure counts from both. A driver may delete them at any time; so this runs
   * before verbs whose answer says whether a row exists.
   */
  async #sweep(queue: string): Promise<void> {
    const request = { holder: 'sweeper', limit: keysMax, failuresExpireMs }
    await this.#run.real(0).tick(queue, request)
    this.#run.model.tick(queue, request)
  }

  #size(): number {
    return this.#chance.pick(sizes)
  }

  /** Keys that follow each other in a random order of all. */
  #someKeys(): string[] {
    const count = this.#size()
    const first = this.#chance.below(keysMax)
    const stride = this.#chance.pick([1, 7, 601, 1_201])
    return Array.from({ length: count }, (_, i) => keys[(first + i * stride) % keysMax] as string)
  }

  #item(): string | undefined {
    const chance = this.#chance
    if (chance.happens(0.5)) return undefined
    const length = chance.happens(0.005) ? 300_000 : chance.pick([1, 30, 900])
    return `"${chance.below(1_000)}${'i'.repeat(length)}"`
  }

  #plan(queue: string): LimiterPlan | undefined {
    const chance = this.#chance
    if (chance.happens(0.8)) return undefined
    if (chance.happens(0.5)) return { kind: 'exponential', baseMs: 5, maxMs: 100 }
    return { kind: 'bucket', name: this.#run.bucketOf(queue), perSecond: 2_000, burst: 40 }
  }

  async #add(queue: string, via: number): Promise<void> {
    const chance = this.#chance
    const isMixed = chance.happens(0.6)
    const delays = chance.pick([[0], [0, 0, 5, 60], [0.5, 10, 1_000]])
    const asks = this.#someKeys().map((key): Ask => {
      const priority = isMixed ? chance.below(60) * 17 - 500 : 0
      const plan = isMixed ? this.#plan(queue) : undefined
      return { key, item: this.#item(), priority, delayMs: chance.pick(delays), plan, jitter: 0 }
    })
    const dedupe = chance.pick(['client-go', 'earliest'] as const)
    const maxPending = chance.happens(0.2) ? 700 : undefined
    const options = { dedupe, failuresExpireMs, maxPending }
    const real = await this.#run.real(via).add(queue, asks, options)
    assertAllAlike(real, this.#run.model.add(queue, asks, options))
  }

  async #claim(queue: string, via: number): Promise<void> {
    const { claims } = this.#run
    const request = {
      limit: this.#size(),
      leaseMs: this.#chance.pick([20, 1_000, Infinity]),
      holder: `holder ${via}`,
      claimId: `claim ${claims.length}`,
      dueBy: undefined,
    }
    await this.#run.claim(queue, via, request)
  }

  /** Claims of the queue, the last of each key, stale ones included. */
  #claims(queue: string): PairedClaim[] {
    const found = new Map<string, PairedClaim>()
    for (const claim of this.#run.claims) if (claim.queue === queue) found.set(claim.key, claim)
    const all = [...found.values()]
    const first = this.#chance.below(all.length + 1)
    return [...all.slice(first), ...all.slice(0, first)].slice(0, this.#size())
  }

  async #finish(queue: string, via: number): Promise<void> {
    const chance = this.#chance
    const claims = this.#claims(queue)
    if (claims.length === 0) return
    const ways = claims.map(() => {
      const as = chance.pick(['done', 'done', 'done', 'retry', 'release', 'park'] as const)
      return { as, delayMs: chance.pick([0, 5, 60]), forget: chance.happens(0.5) }
    })
    const plan = this.#plan(queue)
    const side = (tokenOf: (claim: PairedClaim) => number): Finish[] =>
      claims.map((claim, i): Finish => {
        const { as, delayMs, forget } = ways[i] as (typeof ways)[number]
        const lease = { key: claim.key, token: tokenOf(claim) }
        if (as === 'done') return { as, ...lease, forget }
        if (as === 'release') return { as, ...lease }
        if (as === 'park') return { as, ...lease, error: 'why' }
        return { as, ...lease, delayMs, plan, jitter: 0, error: 'why' }
      })
    const options = { dedupe: chance.pick(['client-go', 'earliest'] as const), failuresExpireMs }
    const ours = side(({ realToken }) => realToken)
    const real = await this.#run.real(via).finish(queue, ours, options)
    const theirs = side(({ modelToken }) => modelToken)
    assertAllAlike(real, this.#run.model.finish(queue, theirs, options))
  }

  async #renew(queue: string, via: number): Promise<void> {
    const claims = this.#claims(queue)
    if (claims.length === 0) return
    const leaseMs = this.#chance.pick([20, 1_000])
    const real = await this.#run.real(via).renew(queue, realLeases(claims), leaseMs)
    const model = this.#run.model.renew(queue, modelLeases(claims), leaseMs)
    for (const [i, reply] of model.entries()) {
      assert.equal(real[i]?.outcome, reply.outcome)
      if (reply.outcome === 'renewed') assertAlike(real[i] as object, reply, `renewal ${i}`)
    }
  }

  async #expire(queue: string, via: number): Promise<void> {
    const claims = this.#claims(queue)
    if (claims.length === 0) return
    const options = { dedupe: 'client-go', maxCrashes: 3, jitter: 0 } as const
    const real = await this.#run.real(via).expire(queue, realLeases(claims), options)
    assert.deepEqual(real, this.#run.model.expire(queue, modelLeases(claims), options))
  }

  async #operate(queue: string, via: number): Promise<void> {
    const real = this.#run.real(via).operate
    const { operate: model } = this.#run.model
    const verb = this.#chance.pick([
      'park',
      'unpark',
      'unpark',
      'runNow',
      'remove',
      'purge',
    ] as const)
    if (verb === 'purge') {
      await real?.purge(queue)
      await model.purge(queue)
      return
    }
    const named = this.#someKeys()
    await this.#sweep(queue)
    const forget = this.#chance.happens(0.5)
    const both = [real, model].map((each) =>
      verb === 'unpark' ? each?.unpark(queue, named, { forget }) : each?.[verb](queue, named),
    )
    assert.deepEqual(await both[0], await both[1])
  }
}

function realLeases(claims: readonly PairedClaim[]): Lease[] {
  return claims.map(({ key, realToken }) => ({ key, token: realToken }))
}

function modelLeases(claims: readonly PairedClaim[]): Lease[] {
  return claims.map(({ key, modelToken }) => ({ key, token: modelToken }))
}

function assertAllAlike(real: readonly object[], model: readonly object[]): void {
  assert.equal(real.length, model.length)
  for (const [i, reply] of model.entries()) assertAlike(real[i] as object, reply, `answer ${i}`)
}

async function compareLarge(s: Scene): Promise<void> {
  const { modelRuns = runsUsual, modelSteps = stepsUsual, ...chance } = s.context.chance
  const seed = chance.seed ?? (fc.sample(fc.nat(), 1)[0] as number)
  const able = s.driver.capabilities
  s.muteLog()
  let scenes: readonly Scene[] = able.peers ? [s, await s.peer()] : [s]
  for (let index = 0; index < Math.ceil(modelRuns / runsPerLarge); index += 1) {
    s.beginHistory()
    const run = new ModelRun(scenes, `large ${seed} ${index}`, keysMax)
    const history = new LargeHistory(run, new Chance(seed + index), able)
    try {
      for (let i = 0; i < Math.min(modelSteps, stepsUsual); i += 1) await history.step()
    } catch (error) {
      const steps = history.steps.map((step, i) => `  ${i + 1} ${step}`)
      const again = `to see it again: seed ${seed}`
      throw new Error(['after these steps:', ...steps, again].join('\n'), { cause: error })
    } finally {
      scenes = run.scenes
    }
  }
}

/** The driver compared with the reference model, with thousands of keys. */
export const modelLargeCases: readonly Case[] = [
  {
    id: 'model.alike.large',
    title: 'after any history of large batches the driver answers as the model does',
    needs: { order: 'per-producer' },
    run: compareLarge,
  },
]
