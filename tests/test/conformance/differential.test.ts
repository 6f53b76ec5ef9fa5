import assert from 'node:assert/strict'
import type { CreateSubject } from '@sluice/conformance'
import { afterAll, describe, test } from 'vitest'
import { differential, sightsOfSize } from '../../support/differential/differential.ts'
import { localSubjects } from '../../support/differential/local-subjects.ts'
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.ts'

// Every verb against the model, with batches up to the limits and hundreds of keys. Longer:
// `npm run torture -- differential`.

let server: PostgresServer | undefined
afterAll(async () => await server?.stop())

async function creator(store: string): Promise<CreateSubject> {
  if (store !== 'postgres') return localSubjects[store as keyof typeof localSubjects]
  server = await startPostgres()
  return server.create
}

/** How long the runs are, by what a step costs. */
const runs: readonly { readonly store: string; readonly steps: number }[] = [
  { store: 'memory', steps: 220 },
  { store: 'sqlite', steps: 220 },
  { store: 'postgres', steps: 90 },
]

const seeds = [20, 22]

describe('the same steps, done to a driver and to the model, have the same answers', () => {
  test.for(runs)('$store', async ({ store, steps }) => {
    const create = await creator(store)
    const met = new Set<string>()
    for (const seed of seeds) {
      for (const what of (await differential(create, { seed, steps })).keys()) met.add(what)
    }
    if (store === 'postgres') return
    const missing = sightsOfSize.filter((sight) => !met.has(sight))
    assert.deepEqual(missing, [], 'the runs were large')
  })
})
