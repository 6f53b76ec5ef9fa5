import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { bundled } from '@sluice/needs/bundled'
import { examineStore, sqliteDriver } from '@sluice/sqlite'
import { test } from 'vitest'
import { scratchFile } from './scratch.ts'
import { claimRequest } from './store.ts'

// A real process adds, takes and finishes keys and is killed in the middle of it, again and again.
// Its replies must hold in the next process. In CI it happens 100 times; `SLUICE_KILLS=5000`
// does it more often.

const usual = process.env['SLUICE_REQUIRE_ALL'] === '1' ? 100 : 25
const kills = Number(process.env['SLUICE_KILLS'] ?? usual)
const program = new URL('children/worker-until-killed.ts', import.meta.url)

/** The replies to one process before it was killed. */
interface Told {
  readonly added: string[]
  readonly tokens: Map<string, number>
  readonly attempted: Set<string>
  readonly done: Set<string>
}

function understand(lines: readonly string[]): Told {
  const told: Told = { added: [], tokens: new Map(), attempted: new Set(), done: new Set() }
  for (const line of lines) {
    const [kind, ...words] = line.split(' ')
    if (kind === 'A') told.added.push(...words)
    if (kind === 'd') for (const key of words) told.attempted.add(key)
    if (kind === 'D') for (const key of words) told.done.add(key)
    if (kind !== 'C') continue
    for (let index = 0; index < words.length; index += 2) {
      told.tokens.set(words[index] as string, Number(words[index + 1]))
    }
  }
  return told
}

/** Runs the program until it has said so many lines, kills it, and gives what it has said whole. */
async function runAndKill(args: readonly string[], linesMax: number): Promise<string[]> {
  const child: ChildProcess = spawn(
    process.execPath,
    [
      '--conditions=sluice-source',
      '--disable-warning=ExperimentalWarning',
      await bundled(program),
      ...args,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  const closed = new Promise<NodeJS.Signals | null>((resolve) => {
    child.on('close', (_, signal) => resolve(signal))
  })
  for await (const line of reader) {
    lines.push(line)
    if (lines.length === linesMax) child.kill('SIGKILL')
  }
  assert.equal(await closed, 'SIGKILL', 'the program runs until it is killed')
  return lines
}

async function inspect(file: string, told: Told, lastToken: number): Promise<number> {
  const driver = sqliteDriver({ file, durability: 'process' })
  await driver.open({})
  const found = new Map<string, number>()
  for (let start = 0; start < told.added.length; start += 500) {
    const keys = told.added.slice(start, start + 500)
    const { rows } = await driver.list('q', { keys, limit: keys.length })
    for (const { key, token } of rows) found.set(key, token)
  }
  for (const key of told.added) {
    const token = found.get(key)
    if (told.done.has(key)) assert.equal(token, undefined, `${key} was done`)
    else if (!told.attempted.has(key)) {
      assert.notEqual(token, undefined, `${key} was added and is lost`)
      const claimed = told.tokens.get(key)
      if (claimed !== undefined) assert.equal(token, claimed, `${key} is held under its token`)
    }
  }
  const { claims } = await driver.claim('q', claimRequest(5))
  let highest = Math.max(lastToken, ...told.tokens.values())
  for (const { token } of claims) {
    assert.ok(token > highest, `token ${token} rises above ${highest}`)
    highest = token
  }
  await driver.operate?.purge('q')
  await driver.close()
  assert.deepEqual((await examineStore({ file })).findings, [])
  return highest
}

test(
  `nothing that was acknowledged is lost when a process is killed, ${kills} times`,
  async () => {
    const file = scratchFile()
    let lastToken = 0
    let added = 0
    for (let kill = 0; kill < kills; kill += 1) {
      const durability = kill % 10 === 0 ? 'power' : 'process'
      // Spread over short and long lives, and so over every point of a transaction.
      const lines = await runAndKill(
        [file, `run-${kill}`, durability, String(kill + 1)],
        2 + ((kill * 37) % 150),
      )
      const told = understand(lines)
      added += told.added.length
      lastToken = await inspect(file, told, lastToken)
    }
    assert.ok(added > kills * 5, `${added} keys were acknowledged`)
    console.log(`${kills} kills, ${added} acknowledged keys, none lost`)
  },
  // Only ends what hangs: on a busy machine, starting a process takes seconds.
  Math.max(120_000, kills * 10_000),
)
