import { describe, expect, test } from 'vitest'
import { type Call, contradiction, type Sequential } from '../src/histories/linearizable.ts'

/** A register: the smallest object with well-known linearizable histories. */
interface RegisterCall extends Call {
  readonly write?: number
  readonly read?: number
}

const register: Sequential<number, RegisterCall> = {
  initial: 0,
  apply: (value, { write, read }) => {
    if (write !== undefined) return write
    return read === undefined || read === value ? value : undefined
  },
  nameOf: String,
}

function isLinearizable(calls: readonly RegisterCall[]): boolean {
  return contradiction(calls, register) === undefined
}

describe('the search for an order', () => {
  test('finds none for a read of a value that was never written', () => {
    expect(isLinearizable([{ start: 1, end: 2, read: 5 }])).toBe(false)
  })

  test('lets calls that overlap come in either order', () => {
    const write = { start: 1, end: 10, write: 1 }
    expect(isLinearizable([write, { start: 2, end: 3, read: 0 }])).toBe(true)
    expect(isLinearizable([write, { start: 2, end: 3, read: 1 }])).toBe(true)
    const both = [write, { start: 2, end: 3, read: 1 }, { start: 4, end: 5, read: 0 }]
    expect(isLinearizable(both)).toBe(false)
  })

  test('keeps calls in order of which one ended before the other began', () => {
    const calls = [
      { start: 1, end: 2, write: 1 },
      { start: 3, end: 4, write: 2 },
    ]
    expect(isLinearizable([...calls, { start: 5, end: 6, read: 2 }])).toBe(true)
    expect(isLinearizable([...calls, { start: 5, end: 6, read: 1 }])).toBe(false)
  })

  test('lets a call that was never answered happen, at any time or never', () => {
    const unknown = { start: 1, end: Infinity, write: 1 }
    const reads = (first: number, second: number): RegisterCall[] => [
      { start: 2, end: 3, read: first },
      { start: 4, end: 5, read: second },
    ]
    expect(isLinearizable([unknown, ...reads(0, 0)])).toBe(true)
    expect(isLinearizable([unknown, ...reads(0, 1)])).toBe(true)
    expect(isLinearizable([unknown, ...reads(1, 1)])).toBe(true)
    expect(isLinearizable([unknown, ...reads(1, 0)])).toBe(false)
  })

  test('reports the longest order found', () => {
    const found = contradiction(
      [
        { start: 1, end: 2, write: 1 },
        { start: 3, end: 4, read: 7 },
      ],
      register,
    )
    expect(found?.order).toEqual([{ start: 1, end: 2, write: 1 }])
    expect(found?.state).toBe(1)
    expect(found?.stuck).toEqual([{ start: 3, end: 4, read: 7 }])
  })

  test('handles eight concurrent calls', () => {
    const calls: RegisterCall[] = []
    for (let round = 0; round < 10; round += 1) {
      for (let client = 0; client < 8; client += 1) {
        calls.push({ start: round * 100 + client, end: round * 100 + 50 + client, write: client })
      }
    }
    expect(isLinearizable([...calls, { start: 2_000, end: 2_001, read: 3 }])).toBe(true)
    expect(isLinearizable([...calls, { start: 2_000, end: 2_001, read: 9 }])).toBe(false)
  })
})
