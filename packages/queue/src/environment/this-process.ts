import { hostname } from 'node:os'
import process from 'node:process'

/** Where this process runs, for others to see. */
export function thisProcess(): { readonly host: string; readonly pid: number } {
  return { host: hostname(), pid: process.pid }
}
