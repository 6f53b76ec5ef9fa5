import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { onTestFinished, test } from 'vitest'
import { needs } from '../src/index.ts'
import { fakeTimeLibrary, SteppedClock, startWithClock } from '../src/stepped-clock.ts'

function steppedClock(): SteppedClock {
  const clock = new SteppedClock()
  onTestFinished(() => clock.remove())
  return clock
}

const clockFile = (): string | undefined => process.env['FAKETIME_TIMESTAMP_FILE']

test('programs that are started in parallel get the clock that each was started with', async () => {
  const clocks = [steppedClock(), undefined, steppedClock()]
  const seen = await Promise.all(
    clocks.map((clock) =>
      startWithClock(clock, async () => {
        const first = clockFile()
        await new Promise(setImmediate)
        return [first, clockFile()]
      }),
    ),
  )
  assert.deepEqual(
    seen,
    clocks.map((clock) => Array(2).fill(clock?.env['FAKETIME_TIMESTAMP_FILE'])),
  )
  assert.equal(clockFile(), undefined)
})

test('a start that fails neither stops the next one nor leaves its clock behind', async () => {
  const failed = startWithClock(steppedClock(), () => Promise.reject(new Error('no')))
  const next = startWithClock(undefined, () => Promise.resolve(clockFile()))
  await assert.rejects(failed, /no/)
  assert.equal(await next, undefined)
})

test.skipIf(!needs('libfaketime', fakeTimeLibrary !== undefined))(
  'a process reads the wall clock that was set for it, before its start and later',
  () => {
    const clock = steppedClock()
    for (const ms of [0, -3_600_000, 1_500, 315_576_000_000]) {
      clock.set(ms)
      const from = Date.now()
      const date = execFileSync('date', ['+%s%3N'], { env: { ...process.env, ...clock.env } })
      const until = Date.now()
      const read = Number(date) - ms
      assert.ok(read > from - 1_000 && read < until + 1_000, `${read - from} ms off, not ${ms}`)
    }
  },
)

test.skipIf(!needs('libfaketime', fakeTimeLibrary !== undefined))(
  'a process that is killed leaves nothing behind in shared memory',
  async () => {
    const clock = steppedClock()
    const child = spawn('cat', { env: { ...process.env, ...clock.env } })
    child.stdin.write('it runs')
    await once(child.stdout, 'data')
    const left = (): string[] =>
      readdirSync('/dev/shm').filter((name) => name.endsWith(`_${child.pid}`))
    assert.equal(left().length, 2)
    clock.remove()
    assert.equal(left().length, 2)
    child.kill('SIGKILL')
    await once(child, 'exit')
    clock.remove()
    assert.deepEqual(left(), [])
  },
)
