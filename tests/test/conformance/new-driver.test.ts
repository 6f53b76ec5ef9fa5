import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { allCases, type CreateSubject, missingVerbs, runCases } from '@sluice/conformance'
import { fakeClock } from '@sluice/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'

const repository = join(import.meta.dirname, '..', '..', '..')
// Inside this package, so that what is made finds the packages that it imports.
const place = join(import.meta.dirname, '..', '..', '.cache', 'new-driver')

let create: CreateSubject

beforeAll(async () => {
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place, { recursive: true })
  cpSync(join(repository, 'templates'), join(place, 'templates'), { recursive: true })
  for (const file of ['package.json', 'tsconfig.json']) {
    cpSync(join(repository, file), join(place, file))
  }
  const { newDriver } = await import(join(repository, 'scripts', 'new-driver.mjs'))
  const folder: string = await newDriver(place, 'redis')
  // They refer to neighbours that are not here, only in the repository.
  for (const away of [place, folder]) rmSync(join(away, 'tsconfig.json'))
  rmSync(join(place, 'package.json'))
  const { redisDriver } = await import(join(folder, 'src', 'index.ts'))
  create = () => ({ driver: redisDriver(), clock: fakeClock() })
})

afterAll(() => {
  rmSync(place, { recursive: true, force: true })
})

test('a driver that was just made has every verb, and all its cases are red', async () => {
  const { driver } = await create()
  expect(missingVerbs(driver)).toEqual([])
  const verdicts = new Map<string, number>()
  for await (const { verdict, error } of runCases(create)) {
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
    if (verdict === 'failed') expect(String(error)).toContain('is not written yet')
  }
  expect(verdicts.get('passed')).toBeUndefined()
  expect((verdicts.get('failed') ?? 0) + (verdicts.get('skipped') ?? 0)).toBe(allCases.length)
  expect(verdicts.get('failed')).toBeGreaterThan(250)
})
