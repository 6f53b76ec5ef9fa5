import assert from 'node:assert/strict'
import { systemEnvironment } from '@sluice/core/driver'
import { onTestFinished } from 'vitest'
import type { Connections } from '../../src/connection/connections.ts'
import {
  type ConnectionOptions,
  checkConnectionOptions,
  openConnections,
} from '../../src/connection/open-connections.ts'

/** The client libraries that the driver connects with. */
export const libraries = ['redis', 'ioredis'] as const

/** Opens connections, which are closed at the end of the test. */
export async function open(
  options: ConnectionOptions & { readonly timeoutMs?: number },
): Promise<Connections> {
  const { timeoutMs = 20_000, ...given } = options
  checkConnectionOptions(given)
  const connections = await openConnections({ ...given, timeoutMs, environment: systemEnvironment })
  onTestFinished(() => connections.close())
  return connections
}

/** The error that a promise rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  return assert.fail('it resolved')
}
