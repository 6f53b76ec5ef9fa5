import { expect } from 'vitest'
import { migrationSql } from '../../src/index.ts'
import { sql } from './server.ts'

/** One break: this text of the migrations, there exactly once or in all places, for that one. */
export interface Break {
  readonly name: string
  readonly from: string
  readonly to: string
}

/** Makes a schema with SQL that is broken, or not. */
export async function makeSchema(url: string, schema: string, broken?: Break): Promise<void> {
  const text = migrationSql({ schema })
  if (broken === undefined) return void (await sql(url, text))
  const mutated = text.replaceAll(broken.from, () => broken.to)
  expect(mutated, `${broken.name}: the text to break is there`).not.toBe(text)
  await sql(url, mutated)
}
