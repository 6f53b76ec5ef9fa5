import * as fc from 'fast-check'
import type { Case } from '../../case.ts'
import { histories } from '../../model/histories.ts'
import { ModelRun } from '../../model/model-run.ts'
import type { Scene } from '../../scene/scene.ts'

const runsUsual = 60
const stepsUsual = 60

/**
 * Runs random histories on the driver and on the model, and throws the shortest one in which they
 * differ, with the values that reproduce it.
 */
async function compareWithModel(s: Scene): Promise<void> {
  const {
    modelRuns = runsUsual,
    modelSteps = stepsUsual,
    seed,
    path,
    replayPath,
  } = s.context.chance
  const able = s.driver.capabilities
  s.muteLog()
  let scenes: readonly Scene[] = able.peers ? [s, await s.peer()] : [s]
  let played = 0
  const parts = { operates: able.operate, restarts: able.durable, maxCommands: modelSteps }
  const property = fc.asyncProperty(histories(parts, replayPath), async (commands) => {
    s.beginHistory()
    // Queues share nothing, so each history uses its own queue on the same store.
    played += 1
    const run = new ModelRun(scenes, `run ${played}`)
    try {
      await fc.asyncModelRun(() => ({ model: {}, real: run }), commands)
    } finally {
      scenes = run.scenes
    }
  })
  await fc.assert(property, {
    numRuns: modelRuns,
    ...(seed !== undefined && { seed }),
    ...(path !== undefined && { path, endOnFailure: true }),
  })
}

/** The driver compared with the reference model. */
export const modelCases: readonly Case[] = [
  {
    id: 'model.alike',
    title: 'after any history the driver answers as the model does, and stores the same',
    needs: { order: 'per-producer' },
    run: compareWithModel,
  },
]
