import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readRepository } from '../src/repository.ts'
import { rules } from '../src/rules.ts'

// Every rule, held against this checkout. What a rule would say is in rules.test.ts.
const repository = readRepository(new URL('../../../', import.meta.url).pathname)

describe('the repository keeps its house rules', () => {
  for (const [name, rule] of Object.entries(rules)) {
    test(name, { timeout: 60_000 }, () => assert.deepEqual(rule(repository), []))
  }
})
