/**
 * The dashboard: `createDashboard` makes a fetch handler over a driver, which serves the page and its
 * data. Mount it in any server that speaks fetch, or run `sluice dashboard`. It opens no store and reads
 * only through `inspectStore`. Actions require `DashboardAuth`.
 *
 * @packageDocumentation
 */

export { createDashboard } from './create-dashboard.ts'
export type { AboutKey, Dashboard, DashboardAuth, DashboardOptions } from './dashboard.ts'
