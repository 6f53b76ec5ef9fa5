import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { embedded } from '../../embed-sql.ts'

test('the generated module is what the SQL files say; run pnpm embed', () => {
  const written = readFileSync(
    new URL('../../src/statements.generated.ts', import.meta.url),
    'utf8',
  )
  expect(embedded()).toBe(written)
})
