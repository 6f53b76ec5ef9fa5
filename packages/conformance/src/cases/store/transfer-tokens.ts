import assert from 'node:assert/strict'
import type { Case } from '../../case.ts'
import { transferVerbs } from '../../scene/transfer-verbs.ts'

const needs = { transfer: true } as const

export const transferTokenCases: readonly Case[] = [
  {
    id: 'transfer.tokens.last',
    title: 'the last token is the greatest that was given out in the whole store, held or not',
    needs,
    async run(s) {
      await s.add('a')
      await s.on('other').add('b')
      const first = await s.claimOne('a')
      const last = await s.on('other').claimOne('b')
      await s.on('other').done(last)
      await s.done(first)
      assert.equal(await transferVerbs(s).lastToken(), last.token)
    },
  },
  {
    id: 'transfer.tokens.raise',
    title:
      'after tokens were raised, only greater ones are given out; raising to less does nothing',
    needs,
    async run(s) {
      await s.addAll(['a', 'b', 'c'])
      const before = await s.claimOne()
      const floor = before.token + 2 ** 40
      await transferVerbs(s).raiseTokens(floor)
      const after = await s.claimOne()
      assert.ok(after.token > floor, `${after.token} is greater than ${floor}`)
      await transferVerbs(s).raiseTokens(before.token)
      assert.ok((await s.claimOne()).token > after.token)
      const later = s.on('used for the first time later')
      await later.add('a')
      const first = await later.claimOne()
      assert.ok(first.token > floor, `${first.token} of a later queue is greater than ${floor}`)
    },
  },
  {
    id: 'transfer.tokens.raise-little',
    title: 'tokens can be raised by a very small amount',
    needs,
    async run(s) {
      await s.addAll(['a', 'b'])
      const before = await s.claimOne()
      await transferVerbs(s).raiseTokens(before.token + 3)
      assert.ok((await s.claimOne()).token > before.token + 3)
    },
  },
  {
    id: 'transfer.tokens.peers',
    title: 'tokens are raised for every process',
    needs: { ...needs, peers: true },
    async run(s) {
      const other = await s.peer()
      await other.addAll(['a', 'b'])
      const { token } = await other.claimOne()
      await transferVerbs(s).raiseTokens(token + 1_000_000)
      assert.ok((await other.claimOne()).token > token + 1_000_000)
    },
  },
]
