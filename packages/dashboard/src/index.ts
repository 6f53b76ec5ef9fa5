export { createDashboard } from './create-dashboard.ts'
export type { AboutKey, Dashboard, DashboardAuth, DashboardOptions } from './dashboard.ts'
