import { expect, test } from 'vitest'
import { casesToSee, chooseGuards } from '../src/guards.ts'

const none = { guardOf: {}, caughtBy: {} }
const failures = new Map([
  [
    'late',
    new Map([
      ['time', 5],
      ['order', 90],
    ]),
  ],
  [
    'lost',
    new Map([
      ['order', 10],
      ['time', 7],
    ]),
  ],
  [
    'twice',
    new Map([
      ['order', 20],
      ['time', 30],
    ]),
  ],
])

test('a new case is guarded by the mutant that it catches soonest', () => {
  expect(chooseGuards(failures, none).guardOf).toEqual({ time: 'late', order: 'lost' })
})

test('a mutant that guards no case is caught by the case that takes least', () => {
  expect(chooseGuards(failures, none).caughtBy).toEqual({ twice: 'order' })
})

test('pairs that still hold stay, and others go', () => {
  const before = {
    guardOf: { order: 'twice', time: 'gone', old: 'late' },
    caughtBy: { lost: 'time', late: 'nothing' },
  }
  expect(chooseGuards(failures, before)).toEqual({
    guardOf: { order: 'twice', time: 'late' },
    caughtBy: { lost: 'time' },
  })
})

test('a mutant has to fail the cases that it guards, and the one that catches it', () => {
  const guards = { guardOf: { order: 'lost', time: 'lost' }, caughtBy: { twice: 'order' } }
  expect(casesToSee(guards, 'lost')).toEqual(['order', 'time'])
  expect(casesToSee(guards, 'twice')).toEqual(['order'])
  expect(casesToSee(guards, 'late')).toEqual([])
})
