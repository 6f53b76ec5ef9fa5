import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { examineStore } from '@sluice/sqlite'
import { test } from 'vitest'
import { scratchFolder } from './scratch.ts'

// Several processes on one file: they make it at the same moment, add keys, three in ten of them
// again, and work on them. `SLUICE_KEYS=200000` does more of it.

const many = 8
const keys = Number(process.env['SLUICE_KEYS'] ?? 20_000)
const program = new URL('children/one-of-many.ts', import.meta.url)

interface Account {
  readonly adds: readonly (readonly [string, number])[]
  readonly runs: readonly (readonly [string, number])[]
  readonly runCount: number
  readonly overlaps: number
  readonly calls: number
  readonly p99Ms: number
  readonly longestMs: number
}

/** Lets the processes work, tells all of them when the last one has added its keys. */
async function letThemWork(file: string, witness: string): Promise<Account[]> {
  const children = Array.from({ length: many }, (_, name) =>
    fork(program, [file, witness, String(name), String(many), String(keys)], {
      execArgv: ['--conditions=sluice-source', '--disable-warning=ExperimentalWarning'],
    }),
  )
  let adding = many
  const accountOf = (child: ChildProcess): Promise<Account> =>
    new Promise((resolve, reject) => {
      child.on('message', (message: Account | { readonly hasAdded: true }) => {
        if (!('hasAdded' in message)) {
          resolve(message)
          return
        }
        adding -= 1
        if (adding === 0) for (const each of children) each.send('everyone has added')
      })
      child.on('exit', (code) => {
        // A message can be behind the news that its sender has ended; an error cannot wait.
        if (code !== 0) reject(new Error(`a process ended with ${code}`))
      })
    })
  return await Promise.all(children.map(accountOf))
}

function latest(entries: readonly (readonly [string, number])[]): Map<string, number> {
  const found = new Map<string, number>()
  for (const [key, at] of entries) found.set(key, Math.max(at, found.get(key) ?? 0))
  return found
}

test(`${many} processes work on ${keys} keys in one file: none lost, none doubled`, async () => {
  const folder = scratchFolder()
  const file = join(folder, 'queue.db')
  const witness = join(folder, 'witness')
  mkdirSync(witness)
  const accounts = await letThemWork(file, witness)

  const sum = (of: (account: Account) => number): number =>
    accounts.reduce((total, account) => total + of(account), 0)
  assert.equal(
    sum(({ overlaps }) => overlaps),
    0,
    'no key was worked on by two at a time',
  )
  assert.deepEqual(readdirSync(witness), [])
  const runs = latest(accounts.flatMap((account) => account.runs))
  const adds = latest(accounts.flatMap((account) => account.adds))
  assert.equal(adds.size, keys)
  for (const [key, askedAt] of adds) {
    const ranAt = runs.get(key)
    assert.ok(ranAt !== undefined && ranAt >= askedAt, `${key} ran after it was last asked for`)
  }
  const { findings, keys: left } = await examineStore({ file })
  assert.deepEqual(findings, [])
  assert.equal(left, 0)
  const longest = Math.max(...accounts.map(({ longestMs }) => longestMs))
  const p99 = Math.max(...accounts.map(({ p99Ms }) => p99Ms))
  console.log(
    `${sum(({ runCount }) => runCount)} runs of ${keys} keys in ${sum(({ calls }) => calls)} calls; ` +
      `99 in 100 took at most ${p99.toFixed(0)} ms, the longest ${longest.toFixed(0)} ms`,
  )
}, 300_000)
