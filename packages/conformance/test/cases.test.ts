import { SluiceError } from '@sluice/core'
import { expect, test } from 'vitest'
import { allCases } from '../src/cases/all.ts'
import { modelSubject } from '../src/model/model-subject.ts'
import { runCases } from '../src/run-cases.ts'

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

test('drivers of which each third add meets a lock pass the case of a bucket', async () => {
  let adds = 0
  const busy = (): SluiceError => new SluiceError('ERR_STORE_BUSY', 'busy', { retryable: true })
  const create = () =>
    modelSubject({
      alter: (driver) => ({
        add(queue, asks, options) {
          adds += 1
          if (adds % 3 > 0) return driver.add(queue, asks, options)
          return asks.map(() => ({ outcome: 'failed', error: busy() }))
        },
      }),
    })
  const cases = allCases.filter(({ id }) => id === 'concurrent.drivers.bucket')
  const results = []
  for await (const result of runCases(create, { cases })) results.push(result)
  expect(results).toMatchObject([{ verdict: 'passed' }])
  expect(adds).toBeGreaterThan(60)
})
