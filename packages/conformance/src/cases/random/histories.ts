import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { Case } from '../../case.ts'
import { runHistory } from '../../histories/run-history.ts'
import { Sometimes, type SometimesEvent } from '../../histories/sometimes.ts'
import { memoryWitness, type Witness } from '../../histories/witness.ts'
import type { Scene } from '../../scene/scene.ts'
import type { Faults } from '../../wrappers/faulty.ts'

const historiesUsual = 8

/** How many times as many histories are recorded at most before an event counts as missing. */
const patience = 5

const smooth: readonly SometimesEvent[] = [
  'two clients had calls in flight at the same time',
  'a key was added while it was held',
  'a batch of several keys was claimed',
  'a lease ended and its key was claimed again',
  'a stale token was answered with lost',
]

const rough: readonly SometimesEvent[] = [
  ...smooth,
  'an unknown outcome had taken effect',
  'an unknown outcome had not taken effect',
  'a call was rejected and had no effect',
  'a call stalled while others went on',
  'the clock was set forward',
  'the clock was set back',
  'a client was killed while it held keys',
]

const faults: Faults = {
  refused: 0.05,
  replyLost: 0.04,
  callLost: 0.04,
  stall: 0.1,
  wakeLost: 0.3,
  wakeTwice: 0.3,
}

/** A unique index in another database, or a witness in memory if there is no `node:sqlite`. */
async function anyWitness(): Promise<Witness> {
  try {
    const { sqliteWitness } = await import('../../histories/sqlite-witness.ts')
    return sqliteWitness()
  } catch {
    return memoryWitness()
  }
}

/** Records and checks concurrent histories, and asserts that the expected events occurred. */
async function checkHistories(
  s: Scene,
  sights: readonly SometimesEvent[],
  parts: { readonly faults?: Faults; readonly isRough?: boolean },
): Promise<void> {
  const { histories = historiesUsual } = s.context.chance
  const seed = s.context.chance.seed ?? (fc.sample(fc.nat(), 1)[0] as number)
  s.muteLog()
  const scenes = [s]
  if (s.driver.capabilities.peers) scenes.push(await s.peer('two'), await s.peer('three'))
  const sometimes = new Sometimes()
  const witness = await anyWitness()
  const isWhole = histories >= historiesUsual
  // A random event may be missing by chance: a few more histories before that is a failure.
  const isEnough = (count: number): boolean =>
    count >= histories &&
    (!isWhole || count >= histories * patience || sometimes.missing(sights).length === 0)
  let recorded = 0
  try {
    for (; !isEnough(recorded); recorded += 1) {
      s.beginHistory()
      const index = recorded
      const queue = `history ${seed} ${index}`
      await runHistory(scenes, { ...parts, seed: seed + index, queue, witness, sometimes })
    }
  } catch (error) {
    const { message } = error as Error
    throw new Error(`${message}\n\nto see it again: seed ${seed}`)
  } finally {
    await witness.close()
  }
  if (!isWhole) return
  const missing = sometimes.missing(sights)
  assert.deepEqual(missing, [], `what ${recorded} histories of seed ${seed} never met`)
}

/** Concurrent clients. */
export const historyCases: readonly Case[] = [
  {
    id: 'histories.linearizable',
    title: 'the answers to concurrent clients could also be given to clients one after another',
    run: (s) => checkHistories(s, smooth, {}),
  },
  {
    id: 'histories.faults',
    title: 'lost answers, refusals, kills and clock steps lose and double no work',
    run: (s) => checkHistories(s, rough, { faults, isRough: true }),
  },
]
