import { existsSync } from 'node:fs'
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
const freePorts = new Set<number>()

function portOf(url: string): number {
  return Number(new URL(url).port)
}

async function serveAnywhere(options: DashboardOptions): Promise<Serving> {
  for (const port of freePorts) {
    freePorts.delete(port)
    try {
      return await serveDashboard(options, { port })
    } catch {
      // Another process has taken the port meanwhile.
    }
  }
  return await serveDashboard(options)
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
      freePorts.add(portOf(url))
    },
    start: async () => {
      freePorts.delete(portOf(url))
      serving ??= await serveDashboard(whole, { port: portOf(url) })
    },
  }
}
