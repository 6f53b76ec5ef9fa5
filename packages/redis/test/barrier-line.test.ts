/** What a barrier answers for, on servers that are made up: each version of Redis has its own `WAIT`. */
import assert from 'node:assert/strict'
import { systemEnvironment } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test } from 'vitest'
import type { Link } from '../src/clients/link.ts'
import { ConnectionError, ReplyError } from '../src/connection/connections.ts'
import type { OpenLink } from '../src/connection/open-link.ts'
import { BarrierLine } from '../src/replicas/barrier-line.ts'
import { refusal } from './connection/support.ts'

/** A primary with one replica. Up to Redis 7.0, `WAIT` answers for every command of its connection. */
function primary({ countsReads }: { readonly countsReads: boolean }) {
  const clock = fakeClock()
  const state = { written: 0, replicated: 0 }
  const sent: (readonly string[])[] = []
  let last = 0
  const link = {
    isOpen: true,
    runId: 'p1',
    async send(command: readonly string[]): Promise<number> {
      sent.push(command)
      const [name] = command
      if (command[3]?.startsWith('{moved}') === true) throw new ReplyError('ASK 1 127.0.0.1:7001')
      if (name === 'WAIT') return state.replicated >= last ? 1 : 0
      if (name === 'EVAL') state.written += 1
      if (name === 'EVAL' || countsReads) last = state.written
      return 0
    },
  } as unknown as Link
  const commands = { runId: 'p1' } as unknown as Link
  const line = new BarrierLine(
    { id: 'p1~0', runId: 'p1', link: commands },
    { current: link } as unknown as OpenLink,
    { ...systemEnvironment, clock },
  )
  return { state, sent, line }
}

describe.each([
  ['Redis 7.0', true],
  ['later servers', false],
])('on %s', (_, countsReads) => {
  test('what another connection has written is confirmed once the replica has it, and not before', async () => {
    const { state, line } = primary({ countsReads })
    const barrier = await line.before('{q}:meta')
    state.written += 1
    // Rejected at once: its time has expired when the reply arrives.
    assert.ok((await refusal(barrier.confirmed(1, 0))) instanceof ConnectionError)
    state.replicated = state.written + 1
    await barrier.confirmed(1, 1_000)
  })

  test('where INFO is withheld, a replica has what was written before the last look, and not less', async () => {
    const { state, line } = primary({ countsReads })
    const look = async (): Promise<number> => (await line.look('{q}:meta')).following(0)
    // By another connection, as the one that was replaced.
    state.written += 1
    expect([await look(), await look()]).toEqual([0, 0])
    state.replicated = state.written
    expect(await look()).toBe(1)
    state.written += 1
    await look()
    expect(await look()).toBe(0)
  })
})

test('where INFO is withheld, nothing is known after a look that could not write', async () => {
  const { state, line } = primary({ countsReads: false })
  const look = async (): Promise<number> => (await line.look('{moved}:meta')).following(0)
  state.written += 1
  expect([await look(), await look()]).toEqual([0, 0])
})

test.each([
  ['{q}:meta', '{q}:meta:mark'],
  ['key', '{key}:mark'],
])('the write of a barrier for %s is in its slot', async (key, mark) => {
  const { state, sent, line } = primary({ countsReads: false })
  state.replicated = 10
  await (await line.before(key)).confirmed(1, 1_000)
  expect(sent[0]?.slice(2)).toEqual(['1', mark])
})

test('a key whose slot is being moved is not confirmed; those of other slots are', async () => {
  const { state, line } = primary({ countsReads: false })
  state.replicated = 10
  const confirming = async (key: string): Promise<void> => {
    await (await line.before(key)).confirmed(1, 1_000)
  }
  const outcomes = await Promise.allSettled(
    ['{q}:meta', '{moved}:meta', '{r}:meta'].map(confirming),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})
