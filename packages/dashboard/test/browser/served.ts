import { existsSync } from 'node:fs'
import { freePort } from '@sluice/needs/free-port'
import { type Driver, memoryDriver } from 'sluice'
import type { DashboardOptions } from '../../src/dashboard.ts'
import { type Serving, serveDashboard } from '../../src/node.ts'

/** The token of dashboards in tests. */
export const token = 'a token for tests only'

/** A dashboard with its page, that can be stopped and started again at the same address. */
export interface Served {
  readonly url: string
  readonly signInUrl: string
  stop(): Promise<void>
  start(): Promise<void>
}

/** Where dashboards were served: at an address that a browser knows, it is quicker. */
const known = new Set<number>()

function portOf(url: string): number {
  return Number(new URL(url).port)
}

async function serveAnywhere(options: DashboardOptions): Promise<Serving> {
  // No other process is given this port, so that the dashboard can be stopped and started again there.
  const [port = await freePort()] = known
  known.delete(port)
  return await serveDashboard(options, { port })
}

/** Serves a store. Signed-in users may act by default. */
export async function serve(options: Partial<DashboardOptions> = {}): Promise<Served> {
  if (!existsSync(new URL('../../dist/client/index.html', import.meta.url))) {
    throw new Error('the page of the dashboard is not built: run `npm run build` first')
  }
  const whole: DashboardOptions & { driver: Driver } = {
    driver: memoryDriver(),
    auth: { token },
    allowActions: true,
    tickMs: 100,
    ...options,
  }
  let serving: Serving | undefined = await serveAnywhere(whole)
  const { url } = serving
  return {
    url,
    signInUrl: `${url}#sign-in=${encodeURIComponent(token)}`,
    stop: async () => {
      if (serving === undefined) return
      await serving.close()
      serving = undefined
      known.add(portOf(url))
    },
    start: async () => {
      known.delete(portOf(url))
      serving ??= await serveDashboard(whole, { port: portOf(url) })
    },
  }
}
