import type { Driver } from '@sluice/core'
import { onTestFinished } from 'vitest'
import { postgresDriver } from '../../src/index.ts'

/** A driver that learns of changes by notices alone: it asks only once a minute. Closed with the test. */
export async function openPatient(
  connectionString: string,
  schema: string,
  warnings: string[] = [],
): Promise<Driver> {
  const driver = postgresDriver({
    connectionString,
    schema,
    pollMs: 60_000,
    poolSize: 2,
    onWarning: (message) => void warnings.push(message),
  })
  onTestFinished(() => driver.close())
  await driver.open({})
  return driver
}
