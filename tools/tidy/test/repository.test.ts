import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { describe, test } from 'vitest'
import { readRepository } from '../src/repository.ts'
import { rules } from '../src/rules.ts'

// Every rule against this checkout. What each rule complains about is tested in rules.test.ts.
const repository = readRepository(fileURLToPath(new URL('../../../', import.meta.url)))

describe('the repository keeps its house rules', () => {
  for (const name of Object.keys(rules) as (keyof typeof rules)[]) {
    test(name, () => {
      assert.deepEqual(rules[name](repository), [])
    })
  }
})
