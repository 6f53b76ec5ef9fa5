import { expect, test } from 'vitest'
import { allCases } from '../src/cases/all.ts'

test('ids are dotted promises, and no two cases share one', () => {
  const ids = allCases.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^[a-z]+(-[a-z]+)*(\.[a-z0-9+-]+)+$/)
})

test('there are at least 150 cases, the cells of the transition table counted by verb', () => {
  const cells = allCases.filter(({ id }) => id.startsWith('table.'))
  const verbs = new Set(cells.map(({ id }) => id.split('.')[1]))
  expect(allCases.length - cells.length + verbs.size).toBeGreaterThanOrEqual(150)
})

test('titles are sentences that no two cases share', () => {
  const titles = allCases.map(({ title }) => title)
  expect(new Set(titles).size).toBe(titles.length)
})
