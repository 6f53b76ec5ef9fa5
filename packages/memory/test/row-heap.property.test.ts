import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RowHeap } from '../src/rows/row-heap.ts'
import { noRow, RowLinks } from '../src/rows/row-links.ts'

const rowsMax = 40
const allRows = Array.from({ length: rowsMax }, (_, at) => at + 1)

/** A heap, and the plain list that it must agree with. */
class Pair {
  readonly heap: RowHeap
  readonly expected = new Map<number, { readonly instant: number; readonly tie: number }>()

  constructor() {
    const links = new RowLinks()
    links.reserve(rowsMax + 1)
    this.heap = new RowHeap(links)
  }

  set(row: number, instant: number, tie: number): void {
    if (this.expected.has(row)) this.heap.move(row, instant, tie)
    else this.heap.add(row, instant, tie)
    this.expected.set(row, { instant, tie })
  }

  remove(row: number): void {
    if (!this.expected.delete(row)) return
    this.heap.remove(row)
  }

  sorted(): number[] {
    return [...this.expected]
      .sort(([, a], [, b]) => a.instant - b.instant || a.tie - b.tie)
      .map(([row]) => row)
  }

  check(): void {
    const { expected, heap } = this
    const [first = noRow] = this.sorted()
    const { instant = Infinity } = expected.get(first) ?? {}
    const rows = [...expected.keys()].sort((a, b) => a - b)
    const inside = Array.from({ length: heap.size }, (_, at) => heap.rowAt(at))
    expect({
      first: heap.first,
      firstAt: heap.firstAt,
      known: allRows.filter((row) => heap.has(row)),
      inside: inside.sort((a, b) => a - b),
    }).toEqual({ first, firstAt: instant, known: rows, inside: rows })
  }
}

const anyRow = fc.integer({ min: 1, max: rowsMax })
const anyInstant = fc.constantFrom(0, 1, 1, 2, 2.5, 3, 10, 1_000, 1e15)

type Step = (pair: Pair, tie: number) => void

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(anyRow, anyInstant).map(
      ([row, instant]): Step =>
        (pair, tie) =>
          pair.set(row, instant, tie),
    ),
  },
  {
    weight: 1,
    arbitrary: anyRow.map(
      (row): Step =>
        (pair) =>
          pair.remove(row),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Step>((pair) => pair.remove(pair.heap.first)),
  },
)

test('is in the order of instants and then of ties, after any moves and removals', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 200, size: 'max' }), (steps) => {
      const pair = new Pair()
      steps.forEach((step, tie) => {
        step(pair, tie)
        pair.check()
      })
      const order = pair.sorted()
      for (const row of order) {
        expect([pair.heap.first, pair.heap.firstAt]).toEqual([row, pair.expected.get(row)!.instant])
        pair.heap.remove(row)
      }
      expect(pair.heap.firstAt).toBe(Infinity)
    }),
    { numRuns: 100 },
  )
})

test('lists every expired row up to the limit', () => {
  fc.assert(
    fc.property(
      fc.array(anyInstant, { maxLength: rowsMax }),
      anyInstant,
      fc.nat(rowsMax),
      (instants, now, limit) => {
        const pair = new Pair()
        instants.forEach((instant, at) => {
          pair.set(at + 1, instant, at)
        })
        const over = instants.flatMap((instant, at) => (instant <= now ? [at + 1] : []))
        const all = pair.heap.upTo(now, rowsMax)
        expect([...all].sort((a, b) => a - b)).toEqual(over)
        expect(pair.heap.upTo(now, limit)).toHaveLength(Math.min(limit, over.length))
      },
    ),
  )
})
