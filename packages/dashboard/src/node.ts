export { toNodeHandler } from './node-handler.ts'
export { type ServeOptions, type Serving, serveDashboard } from './serve-dashboard.ts'
