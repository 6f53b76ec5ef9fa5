export { type ServeOptions, type Serving, serveDashboard } from './serve-dashboard.ts'
