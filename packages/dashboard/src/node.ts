export { toNodeHandler } from './http/node-handler.ts'
export { type ServeOptions, type Serving, serveDashboard } from './http/serve-dashboard.ts'
